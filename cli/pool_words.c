/*
 * One pass with a stack of brackets. What it sees is noted for the top-level class it stands in;
 * a class is taken together with those it derives from and with everything outside of classes.
 */
#include "cli/pool_words.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"

enum {
	CUTS = 1 << 0,         /* x[:, start:]: from a position that is worked out */
	REDUCES = 1 << 1,      /* x.mean(axis=2) */
	REDUCES_LAST = 1 << 2, /* x.mean(-1): also what any norm does */
	UNFOLDS = 1 << 3,      /* gives windows an axis that may be the last one */
	SPLITS = 1 << 4,       /* gives windows an axis */
	MULTIPLIES = 1 << 5,   /* weights with windows */
	POOLS = 1 << 6,        /* calls something that says so */
	JOINS = 1 << 7,        /* along another axis than the last */
	CONTRACTS = 1 << 8,    /* einsum: weights of any origin */
	WEIGHS = 1 << 9,       /* softmax(...): what a product takes as weights */
};

enum { MAX_DEPTH = 64, MAX_ANCESTRY = 16 };

typedef struct {
	char kind;
	uint32_t argument; /* where the present one begins */
	uint32_t commas;   /* of the file, when it was opened */
	mla_str callee;
	bool method;          /* after a dot */
	bool axis, last_axis; /* among the arguments */
	bool cuts, cut_is_last, after_dots;
	uint32_t upper; /* where the upper bound of the last cut begins */
} bracket;

typedef struct {
	mla_str name, bases;
	uint32_t seen;
} block;

typedef struct {
	mla_str code;
	MLA_VEC(block) classes;
	uint32_t outside, *seen; /* of the present block */
	bracket open[MAX_DEPTH];
	uint32_t depth, commas;
} scanner;

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
}

static mla_str trimmed(mla_str code, uint32_t from, uint32_t to)
{
	while (from < to && is_space(code.ptr[from]))
		from++;
	while (to > from && is_space(code.ptr[to - 1]))
		to--;
	return (mla_str){code.ptr + from, to - from};
}

static mla_str name_before(mla_str code, uint32_t at)
{
	uint32_t end = at, start;

	while (end > 0 && (code.ptr[end - 1] == ' ' || code.ptr[end - 1] == '\t'))
		end--;
	for (start = end; start > 0 && mla_is_name_byte(code.ptr[start - 1]);)
		start--;
	return (mla_str){code.ptr + start, end - start};
}

/* -1, - 1, 2, (-1,): the digits of an axis, with *last if it is the last one. */
static bool is_axis_number(mla_str s, bool *last)
{
	bool minus = false, digits = false;

	*last = false;
	for (uint32_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		minus |= c == '-';
		if (c >= '0' && c <= '9') {
			*last = minus && !digits && c == '1';
			digits = true;
		} else if (c != '-' && c != '(' && c != ')' && c != ' ') {
			return false;
		}
	}
	return digits;
}

/* `axis=...` or `dim=...`: the value, or nothing. */
static mla_str axis_keyword(mla_str argument)
{
	static const char *const keywords[] = {"axis", "dim"};

	for (size_t k = 0; k < sizeof(keywords) / sizeof(*keywords); k++) {
		uint32_t n = (uint32_t)strlen(keywords[k]);

		if (!mla_str_starts(argument, keywords[k]))
			continue;
		while (n < argument.len && is_space(argument.ptr[n]))
			n++;
		if (n < argument.len && argument.ptr[n] == '=')
			return trimmed(argument, n + 1, argument.len);
	}
	return (mla_str){0};
}

static void end_argument(scanner *s, bracket *b, uint32_t at, bool closes)
{
	mla_str argument = trimmed(s->code, b->argument, at), value = axis_keyword(argument);
	bool last;

	if (value.len) {
		b->last_axis |= is_axis_number(value, &last) && last;
		b->axis |= !mla_str_is(value, "None");
	} else if (closes && is_axis_number(argument, &last)) {
		b->last_axis |= last;
		b->axis |= b->method; /* max(a, 1) has none */
	} else if (closes && b->method &&
	           (mla_str_mentions(argument, "axis") || mla_str_mentions(argument, "dim"))) {
		b->axis = true; /* x.mean(axis), by a name */
	}
	if (!closes) {
		b->after_dots |= mla_str_is(argument, "...");
		b->cut_is_last = false;
	}
	b->argument = at + 1;
}

static uint32_t call_of(const scanner *s, const bracket *b)
{
	static const char *const joins[] = {"concatenate", "concat", "cat", "hstack", NULL};
	static const char *const reduces[] = {"mean", "max",       "sum",  "min",    "amax",
	                                      "amin", "logsumexp", "prod", "reduce", NULL};
	static const char *const unfolds[] = {"unfold", "as_strided", "rearrange", NULL};
	static const char *const multiplies[] = {"matmul", "bmm", NULL};
	static const char *const contracts[] = {"einsum", "tensordot", NULL};
	static const char *const splits[] = {"reshape", "view", NULL};
	uint32_t out = mla_str_mentions(b->callee, "pool") ? POOLS : 0;

	if (mla_str_in(b->callee, joins))
		out |= b->last_axis ? 0 : JOINS;
	else if (mla_str_is(b->callee, "slice_update"))
		out |= JOINS;
	else if (mla_str_in(b->callee, reduces))
		out |= !b->axis ? 0 : b->last_axis ? REDUCES_LAST : REDUCES;
	else if (mla_str_in(b->callee, unfolds))
		out |= UNFOLDS | SPLITS;
	else if (mla_str_is(b->callee, "unflatten") ||
	         (mla_str_in(b->callee, splits) && s->commas - b->commas >= 2))
		out |= SPLITS;
	else if (mla_str_in(b->callee, multiplies))
		out |= MULTIPLIES;
	else if (mla_str_in(b->callee, contracts))
		out |= CONTRACTS;
	else if (mla_str_ends(b->callee, "softmax"))
		out |= WEIGHS;
	return out;
}

static void open_bracket(scanner *s, uint32_t at)
{
	mla_str name = name_before(s->code, at);
	uint32_t start = (uint32_t)(name.ptr - s->code.ptr);

	if (s->depth++ >= MAX_DEPTH)
		return;
	s->open[s->depth - 1] = (bracket){.kind = s->code.ptr[at],
	                                  .argument = at + 1,
	                                  .commas = s->commas,
	                                  .callee = name,
	                                  .method = start > 0 && s->code.ptr[start - 1] == '.'};
}

/* Several axes, or to the very end of one; but not the features of `x[..., k:]`. */
static bool cuts_rows(const scanner *s, const bracket *b, uint32_t end)
{
	return b->cuts && !(b->cut_is_last && b->after_dots) &&
	       (s->commas != b->commas || !trimmed(s->code, b->upper, end).len);
}

static bool is_assigned(mla_str code, uint32_t i)
{
	while (i < code.len && (code.ptr[i] == ' ' || code.ptr[i] == '\t'))
		i++;
	return i + 1 < code.len && code.ptr[i] == '=' && code.ptr[i + 1] != '=';
}

static void close_bracket(scanner *s, uint32_t at)
{
	bracket *b;

	if (!s->depth || --s->depth >= MAX_DEPTH)
		return;
	b = &s->open[s->depth];
	if (b->kind == '(') {
		end_argument(s, b, at, true);
		*s->seen |= call_of(s, b);
	} else if (b->kind == '[' && cuts_rows(s, b, at)) {
		*s->seen |= CUTS;
		if (!s->depth && is_assigned(s->code, at + 1))
			*s->seen |= JOINS; /* kept[:, n:] = new */
	}
}

static void colon(scanner *s, uint32_t at)
{
	bracket *b = s->depth && s->depth <= MAX_DEPTH ? &s->open[s->depth - 1] : NULL;
	mla_str lower;
	bool last;

	if (!b || b->kind != '[')
		return;
	lower = trimmed(s->code, b->argument, at);
	if (!lower.len || is_axis_number(lower, &last))
		return;
	b->cuts = b->cut_is_last = true;
	b->upper = at + 1;
}

/* A line that begins at the margin: a class, or something that ends one. */
static void top_level(scanner *s, uint32_t at)
{
	static const char word[] = "class ";
	uint32_t start = at + sizeof(word) - 1, end, colon_at;
	mla_str rest = {s->code.ptr + at, s->code.len - at};

	if (is_space(s->code.ptr[at]) || s->code.ptr[at] == ')')
		return;
	s->seen = &s->outside;
	if (!mla_str_starts(rest, word))
		return;
	for (end = start; end < s->code.len && mla_is_name_byte(s->code.ptr[end]);)
		end++;
	for (colon_at = end; colon_at < s->code.len && s->code.ptr[colon_at] != ':';)
		colon_at++;
	mla_vec_push(&s->classes, ((block){{s->code.ptr + start, end - start},
	                                   {s->code.ptr + end, colon_at - end},
	                                   0}));
	s->seen = &s->classes.v[s->classes.n - 1].seen;
}

static void mark(scanner *s, uint32_t at)
{
	switch (s->code.ptr[at]) {
	case '(':
	case '[':
	case '{':
		open_bracket(s, at);
		break;
	case ')':
	case ']':
	case '}':
		close_bracket(s, at);
		break;
	case ',':
		s->commas++;
		if (s->depth && s->depth <= MAX_DEPTH)
			end_argument(s, &s->open[s->depth - 1], at, false);
		break;
	case ':':
		colon(s, at);
		break;
	case '\n':
		if (!s->depth && at + 1 < s->code.len)
			top_level(s, at + 1);
		break;
	default: /* @: of a decorator, if it begins a line */
		if (at > 0 && s->code.ptr[at - 1] == ' ')
			*s->seen |= MULTIPLIES;
	}
}

static void scan(scanner *s)
{
	static const bool marks[UINT8_MAX + 1] = {
		['('] = true, [')'] = true, ['['] = true, [']'] = true,  ['{'] = true,
		['}'] = true, [','] = true, [':'] = true, ['\n'] = true, ['@'] = true,
	};

	if (s->code.len)
		top_level(s, 0);
	for (uint32_t i = 0; i < s->code.len; i++)
		if (marks[(unsigned char)s->code.ptr[i]])
			mark(s, i);
}

static bool names(mla_str text, mla_str word)
{
	for (uint32_t i = 0; word.len && i + word.len <= text.len; i++)
		if (memcmp(text.ptr + i, word.ptr, word.len) == 0 &&
		    (i == 0 || !mla_is_name_byte(text.ptr[i - 1])) &&
		    (i + word.len == text.len || !mla_is_name_byte(text.ptr[i + word.len])))
			return true;
	return false;
}

/* What a class and those it derives from in this file have. */
static uint32_t with_ancestors(const scanner *s, const block *c, uint32_t depth)
{
	uint32_t seen = c->seen;

	for (uint32_t i = 0; depth && i < s->classes.n; i++)
		if (&s->classes.v[i] != c && names(c->bases, s->classes.v[i].name))
			seen |= with_ancestors(s, &s->classes.v[i], depth - 1);
	return seen;
}

static bool pools(uint32_t seen)
{
	return (seen & CUTS) &&
	       ((seen & (POOLS | REDUCES)) || (seen & UNFOLDS && seen & REDUCES_LAST) ||
	        (seen & SPLITS && (seen & CONTRACTS || (seen & MULTIPLIES && seen & WEIGHS))));
}

bool mla_may_pool(mla_str code)
{
	scanner s = {.code = code, .seen = &s.outside};
	uint32_t joins;
	bool found;

	scan(&s);
	joins = s.outside;
	for (uint32_t i = 0; i < s.classes.n; i++)
		joins |= s.classes.v[i].seen;
	found = (joins & JOINS) && pools(s.outside);
	for (uint32_t i = 0; (joins & JOINS) && !found && i < s.classes.n; i++)
		found = pools(s.outside | with_ancestors(&s, &s.classes.v[i], MAX_ANCESTRY));
	mla_vec_free(&s.classes);
	return found;
}
