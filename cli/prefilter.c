/*
 * Searching bytes for any of a set of words. Wu and Manber's method: a table over pairs of bytes
 * says how far the window may move, so most bytes of a file are never looked at. Files that fail
 * are the bulk of a repository, and this is all that is done to them.
 */
#include "cli/prefilter.h"

#include "analyzer/arena.h"
#include "analyzer/str.h"
#include "cli/code_only.h"
#include "cli/pool_words.h"

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

/* May the word of `n` bytes at `at` count, seeing what is around it? */
typedef bool (*word_test)(mla_str b, uint32_t at, size_t n);

typedef struct {
	const char *const *words;
	word_test counts;
	uint8_t shift[TABLE]; /* 0: the first `shortest` bytes of some word may end here */
	bool begins[TABLE];   /* some word begins with this pair */
	uint32_t shortest;
} word_set;

struct mla_prefilter {
	word_set strong, weak, product;
};

struct mla_base_names {
	word_set set;
};

static uint32_t hash(const char *p)
{
	return (((uint32_t)(unsigned char)p[0] << 5) ^ (unsigned char)p[1]) & (TABLE - 1);
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

static bool free_after(mla_str b, uint32_t end, char edge)
{
	return !is_letter_or_digit(edge) || end == b.len || !is_letter_or_digit(b.ptr[end]);
}

/* Short words occur inside others (kv_b in kv_bits): they must stand between other characters. */
static bool free_if_short(mla_str b, uint32_t at, size_t n)
{
	enum { SHORT = 6 };
	uint32_t end = at + (uint32_t)n;

	return n > SHORT || (free_before(b, at, b.ptr[at]) && free_after(b, end, b.ptr[end - 1]));
}

static void prepare(word_set *p, const char *const *words, word_test counts)
{
	p->words = words;
	p->counts = counts;
	p->shortest = UINT8_MAX;
	for (const char *const *w = words; *w; w++)
		if (strlen(*w) < p->shortest)
			p->shortest = (uint32_t)strlen(*w);
	if (p->shortest < BLOCK)
		return; /* no pair to look up: every byte is looked at */
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

	prepare(&p->strong, strong_words, free_if_short);
	prepare(&p->weak, weak_words, free_if_short);
	prepare(&p->product, product_words, free_if_short);
	return p;
}

void mla_prefilter_free(mla_prefilter *p)
{
	free(p);
}

static bool word_at(const word_set *p, mla_str b, uint32_t at)
{
	mla_str rest = {b.ptr + at, b.len - at};

	for (const char *const *w = p->words; *w; w++)
		if (mla_str_starts(rest, *w) && p->counts(b, at, strlen(*w)))
			return true;
	return false;
}

static bool has_word(const word_set *p, mla_str b)
{
	uint32_t m = p->shortest;

	for (uint32_t at = 0; m < BLOCK && at < b.len; at++)
		if (word_at(p, b, at))
			return true;
	for (uint32_t end = m; m >= BLOCK && end <= b.len;) {
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

/* `in (1, 2)`, `in range(1, 3)` from `at` on */
static bool is_in_few(mla_str b, uint32_t at)
{
	uint32_t end = at + 2;

	if (b.ptr[at] != 'i' || b.ptr[at + 1] != 'n' || mla_is_name_byte(b.ptr[at - 1]))
		return false;
	while (end < b.len && b.ptr[end] == ' ')
		end++;
	return end < b.len && (b.ptr[end] == '(' || b.ptr[end] == '[' || b.ptr[end] == '{' ||
	                       (b.ptr[end] == 'r' && end > at + 2));
}

/*
 * A comparison, or a case of a match. Its bound may be any number or name, after blanks, line ends
 * and comments, so nothing around the operator is looked at; the words keep candidates few.
 */
bool mla_prefilter_compares(mla_str b)
{
	static const char case_word[] = {'c', 'a', 's', 'e'};

	for (uint32_t i = 1; i + 1 < b.len; i++) {
		char c = b.ptr[i], next = b.ptr[i + 1], before = b.ptr[i - 1];

		if ((c == '=' || c == '!') && next == '=')
			return true;
		if ((c == '<' || c == '>') && next != c && before != c && before != '-')
			return true;
		if (is_in_few(b, i))
			return true;
		if (c == 'c' && b.len - i > sizeof(case_word) && !mla_is_name_byte(before) &&
		    memcmp(b.ptr + i, case_word, sizeof(case_word)) == 0 &&
		    !mla_is_name_byte(b.ptr[i + sizeof(case_word)]))
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
	return mla_prefilter_compares(bytes) || has_suppression(bytes);
}

/* mla, MLA or Mla as a part of a name: not the `mLa` of sMemLayout, nor the `mla` of formlabel. */
static bool names_mla(mla_str b)
{
	for (uint32_t i = 0; i + 2 < b.len; i++) {
		const char *p = b.ptr + i;
		bool upper = p[1] == 'L' && p[2] == 'A';

		if ((*p != 'm' && *p != 'M') || (!upper && (p[1] != 'l' || p[2] != 'a')))
			continue;
		if (upper ? *p == 'M' : i + 3 == b.len || p[3] < 'a' || p[3] > 'z')
			return true;
	}
	return false;
}

/* Words in any case: macros and types are spelled in their own. */
bool mla_prefilter_c(mla_str bytes)
{
	static const char *const words[] = {"lora_kv", "kv_lora",   "latent", "absorb", "wk_b",
	                                    "wv_b",    "wkv_b",     "w_uk",   "w_uv",   "embed_q",
	                                    "kv_b_",   "materiali", NULL};
	bool pool = mla_str_mentions(bytes, "pool");
	bool rank = mla_str_mentions(bytes, "rank"), nope = mla_str_mentions(bytes, "nope");

	for (const char *const *w = words; *w; w++)
		if (mla_str_mentions(bytes, *w))
			return true;
	if (pool && (mla_str_mentions(bytes, "pooled") || mla_str_mentions(bytes, "indexer")))
		return true;
	return (rank && nope) || names_mla(bytes);
}

bool mla_prefilter_word(const mla_prefilter *p, mla_str bytes)
{
	return has_word(&p->strong, bytes) || has_word(&p->weak, bytes);
}

/* What is left of a file without comments and strings, but whole where that cannot be told. */
static bool code_candidate(const mla_prefilter *p, mla_str code)
{
	bool words = has_word(&p->strong, code) ||
	             (has_word(&p->weak, code) && has_word(&p->product, code));

	/* Without a comparison it may still hold the constructor that others inherit. */
	return (words && (mla_prefilter_compares(code) || mla_str_contains(code, "__init__"))) ||
	       mla_may_pool(code);
}

bool mla_prefilter_candidate(const mla_prefilter *p, mla_str bytes)
{
	char *code;
	bool found;

	if (has_suppression(bytes))
		return true;
	code = mla_alloc(bytes.len + 1);
	found = code_candidate(p, mla_code_only(code, bytes) ? (mla_str){code, bytes.len} : bytes);
	free(code);
	return found;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool class_word_at(mla_str b, uint32_t at)
{
	static const char word[] = "class";
	uint32_t end = at + sizeof(word) - 1;

	return end < b.len && memcmp(b.ptr + at, word, sizeof(word) - 1) == 0 &&
	       (is_blank(b.ptr[end]) || b.ptr[end] == '\\') &&
	       (at == 0 || !mla_is_name_byte(b.ptr[at - 1]));
}

/* Between `class` and a base there is neither the end of the list nor the start of the body. */
static bool in_class_header(mla_str b, uint32_t at)
{
	enum { LONGEST = 512 };
	bool open = false; /* the list: `class Name` itself is no base */

	for (uint32_t i = 0; i < LONGEST && at > 0; i++) {
		char c = b.ptr[--at];

		if (c == ':' || c == ')')
			return false;
		open |= c == '(';
		if (c == 'c' && class_word_at(b, at))
			return open;
	}
	return false;
}

static uint32_t skip_blanks(mla_str b, uint32_t i)
{
	while (i < b.len && is_blank(b.ptr[i]))
		i++;
	return i;
}

/* `Name = value` or `Name.attribute = value`, seen from the end of the name. */
static bool is_assigned(mla_str b, uint32_t i)
{
	while (i < b.len && (mla_is_name_byte(b.ptr[i]) || b.ptr[i] == '.'))
		i++;
	i = skip_blanks(b, i);
	return i + 1 < b.len && b.ptr[i] == '=' && b.ptr[i + 1] != '=';
}

/* `Other = Name` to the end of its line, or `import Name as Other` */
static bool is_renamed(mla_str b, uint32_t at, uint32_t end)
{
	end = skip_blanks(b, end);
	if (b.len - end > 2 && memcmp(b.ptr + end, "as", 2) == 0 &&
	    !mla_is_name_byte(b.ptr[end + 2]))
		return true;
	while (at > 0 && (mla_is_name_byte(b.ptr[at - 1]) || b.ptr[at - 1] == '.'))
		at--;
	while (at > 0 && is_blank(b.ptr[at - 1]))
		at--;
	return at > 0 && b.ptr[at - 1] == '=' &&
	       (end == b.len || b.ptr[end] == '\n' || b.ptr[end] == '\r' || b.ptr[end] == '#');
}

/* Is the name of a class a base here, given another name, or are its methods replaced? */
static bool names_base(mla_str b, uint32_t at, size_t n)
{
	uint32_t end = at + (uint32_t)n;

	if ((at > 0 && mla_is_name_byte(b.ptr[at - 1])) ||
	    (end < b.len && mla_is_name_byte(b.ptr[end])))
		return false;
	return in_class_header(b, at) || is_renamed(b, at, end) ||
	       (end < b.len && b.ptr[end] == '.' && is_assigned(b, end));
}

mla_base_names *mla_base_names_new(const char *const *names)
{
	mla_base_names *n = mla_alloc(sizeof(*n));

	prepare(&n->set, names, names_base);
	return n;
}

void mla_base_names_free(mla_base_names *n)
{
	free(n);
}

bool mla_base_names_candidate(const mla_base_names *n, mla_str bytes)
{
	return has_word(&n->set, bytes);
}

bool mla_prefilter_loads(mla_str bytes)
{
	return mla_str_contains(bytes, "sanitize") &&
	       (mla_str_contains(bytes, "layers") || mla_str_contains(bytes, "mtp") ||
	        mla_str_contains(bytes, "nextn"));
}
