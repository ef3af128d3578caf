/*
 * Searching bytes for any of a set of words. Wu and Manber's method: a table over pairs of bytes
 * says how far the window may move, so most bytes of a file are never looked at. Files that fail
 * are the bulk of a repository, and this is all that is done to them.
 */
#include "cli/prefilter.h"

#include "analyzer/arena.h"
#include "analyzer/str.h"

#include <stdlib.h>

/* Names of up-projections: enough by themselves. */
#define STRONG_WORDS                                                                             \
	"MultiLinear", "embed_q", "unembed_out", "w_kc", "w_vc", "w_uk", "w_uv", "W_UK", "W_UV", \
		"wk_b", "wv_b", "wkv_b", "q_absorb", "out_absorb", "qabs"

/* Sizes, and names that occur elsewhere too: only beside a product of tensors, which code has that
 * gives its projections other names. */
#define WEAK_WORDS                                                                               \
	"kv_lora_rank", "qk_nope_head_dim", "kv_b_proj", "kv_b", "k_up", "v_up", "up_k", "up_v", \
		"key_up", "value_up", "k_b_proj", "v_b_proj"

#define PRODUCT_WORDS "einsum", "matmul", ".bmm", " @ "

const char *const mla_prefilter_words[] = {STRONG_WORDS, WEAK_WORDS, NULL};

/* How a suppression comment begins. */
static const char suppression_word[] = "mlalint:";

static const char *const strong_words[] = {STRONG_WORDS, suppression_word, NULL};
static const char *const weak_words[] = {WEAK_WORDS, NULL};
static const char *const product_words[] = {PRODUCT_WORDS, NULL};

enum { BLOCK = 2, HASH_BITS = 12, TABLE = 1 << HASH_BITS };

typedef struct {
	const char *const *words;
	uint8_t shift[TABLE]; /* 0: the first `shortest` bytes of some word may end here */
	bool begins[TABLE];   /* some word begins with this pair */
	uint32_t shortest;
} word_set;

struct mla_prefilter {
	word_set strong, weak, product;
};

static uint32_t hash(const char *p)
{
	return (((uint32_t)(unsigned char)p[0] << 5) ^ (unsigned char)p[1]) & (TABLE - 1);
}

static void prepare(word_set *p, const char *const *words)
{
	p->words = words;
	p->shortest = UINT32_MAX;
	for (const char *const *w = words; *w; w++)
		if (strlen(*w) < p->shortest)
			p->shortest = (uint32_t)strlen(*w);
	memset(p->shift, (int)(p->shortest - BLOCK + 1), sizeof(p->shift));
	for (const char *const *w = words; *w; w++) {
		p->begins[hash(*w)] = true;
		for (uint32_t end = BLOCK; end <= p->shortest; end++) {
			uint8_t *s = &p->shift[hash(*w + end - BLOCK)];

			if (p->shortest - end < *s)
				*s = (uint8_t)(p->shortest - end);
		}
	}
}

mla_prefilter *mla_prefilter_new(void)
{
	mla_prefilter *p = mla_alloc(sizeof(*p));

	prepare(&p->strong, strong_words);
	prepare(&p->weak, weak_words);
	prepare(&p->product, product_words);
	return p;
}

void mla_prefilter_free(mla_prefilter *p)
{
	free(p);
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Does a word that begins (ends) with `edge` stand free of what is before (after) it? */
static bool free_before(mla_str b, uint32_t at, char edge)
{
	return !is_letter_or_digit(edge) || at == 0 || !is_letter_or_digit(b.ptr[at - 1]);
}

static bool free_after(mla_str rest, size_t n, char edge)
{
	return !is_letter_or_digit(edge) || n == rest.len || !is_letter_or_digit(rest.ptr[n]);
}

/* Short words occur inside others (kv_b in kv_bits): they must stand between other characters. */
static bool word_at(const word_set *p, mla_str b, uint32_t at)
{
	enum { SHORT = 6 };
	mla_str rest = {b.ptr + at, b.len - at};

	for (const char *const *w = p->words; *w; w++) {
		size_t n = strlen(*w);

		if (!mla_str_starts(rest, *w))
			continue;
		if (n > SHORT || (free_before(b, at, (*w)[0]) && free_after(rest, n, (*w)[n - 1])))
			return true;
	}
	return false;
}

static bool has_word(const word_set *p, mla_str b)
{
	uint32_t m = p->shortest;

	for (uint32_t end = m; end <= b.len;) {
		uint8_t shift = p->shift[hash(b.ptr + end - BLOCK)];

		if (shift) {
			end += shift;
			continue;
		}
		if (p->begins[hash(b.ptr + end - m)] && word_at(p, b, end - m))
			return true;
		end++;
	}
	return false;
}

static uint32_t skip_blanks(mla_str b, uint32_t i)
{
	while (i < b.len && (b.ptr[i] == ' ' || b.ptr[i] == '(' || b.ptr[i] == '\t'))
		i++;
	return i;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A bound: a small number, a CONSTANT, or an attribute of self. */
static bool starts_bound(mla_str b, uint32_t i)
{
	enum { DIGITS = 4 };
	uint32_t digits = 0;

	i = skip_blanks(b, i);
	while (i + digits < b.len && is_digit(b.ptr[i + digits]))
		digits++;
	if (digits)
		return digits <= DIGITS;
	if (i + 1 < b.len && b.ptr[i] >= 'A' && b.ptr[i] <= 'Z')
		return (b.ptr[i + 1] >= 'A' && b.ptr[i + 1] <= 'Z') || b.ptr[i + 1] == '_';
	return mla_str_starts((mla_str){b.ptr + i, b.len - i}, "self.");
}

/* `1 == L`: the number before the operator */
static bool ends_bound(mla_str b, uint32_t i)
{
	while (i > 0 && b.ptr[i - 1] == ' ')
		i--;
	return i > 1 && is_digit(b.ptr[i - 1]) && !is_letter_or_digit(b.ptr[i - 2]) &&
	       b.ptr[i - 2] != '.' && b.ptr[i - 2] != '_';
}

static bool has_test(mla_str b)
{
	static const char case_word[] = "case ";

	for (uint32_t i = 1; i + 1 < b.len; i++) {
		char c = b.ptr[i], next = b.ptr[i + 1];

		if ((c == '=' || c == '!') && next == '=' &&
		    (starts_bound(b, i + 2) || ends_bound(b, i)))
			return true;
		if ((c == '<' || c == '>') && next != c && b.ptr[i - 1] != c &&
		    b.ptr[i - 1] != '-' &&
		    (starts_bound(b, i + 1 + (next == '=')) || ends_bound(b, i)))
			return true;
		if (c == 'c' && b.len - i > sizeof(case_word) &&
		    memcmp(b.ptr + i, case_word, sizeof(case_word) - 1) == 0 &&
		    is_digit(b.ptr[skip_blanks(b, i + 5)]))
			return true;
	}
	return false;
}

/* An unused suppression is a finding wherever it stands. */
static bool has_suppression(mla_str bytes)
{
	return mla_str_contains(bytes, suppression_word);
}

bool mla_prefilter_listed(mla_str bytes)
{
	return has_test(bytes) || has_suppression(bytes);
}

bool mla_prefilter_candidate(const mla_prefilter *p, mla_str bytes)
{
	bool words = has_word(&p->strong, bytes) ||
	             (has_word(&p->weak, bytes) && has_word(&p->product, bytes));

	return words && mla_prefilter_listed(bytes);
}
