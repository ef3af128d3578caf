/* A lexer that cannot fail: what it does not know is punctuation of one byte. */
#include "analyzer/c_tokens.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"

typedef struct {
	mla_str b;
	uint32_t at;
	bool directive, line_start;
	MLA_VEC(mla_token) tokens;
	MLA_VEC(mla_span) comments;
	MLA_VEC(uint32_t) open;
	uint32_t depth;
} lexer;

static char peek(const lexer *l, uint32_t ahead)
{
	return l->b.len - l->at > ahead ? l->b.ptr[l->at + ahead] : '\0';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length of a line continuation at the position, 0 when there is none. */
static uint32_t continuation(const lexer *l)
{
	if (peek(l, 0) != '\\')
		return 0;
	if (peek(l, 1) == '\n')
		return 2;
	return peek(l, 1) == '\r' && peek(l, 2) == '\n' ? 3 : 0;
}

static void comment(lexer *l)
{
	uint32_t start = l->at;

	if (peek(l, 1) == '/') {
		while (l->at < l->b.len && peek(l, 0) != '\n' && peek(l, 0) != '\r') {
			uint32_t joined = continuation(l);

			l->at += joined ? joined : 1;
		}
	} else {
		l->at += 2;
		while (l->at < l->b.len && !(peek(l, 0) == '*' && peek(l, 1) == '/'))
			l->at++;
		l->at = l->b.len - l->at < 2 ? l->b.len : l->at + 2;
	}
	mla_vec_push(&l->comments, ((mla_span){start, l->at}));
}

static void quoted(lexer *l, char quote)
{
	for (l->at++; l->at < l->b.len && peek(l, 0) != quote; l->at++) {
		if (peek(l, 0) == '\\')
			l->at++;
		else if (peek(l, 0) == '\n')
			return;
	}
	l->at = l->at < l->b.len ? l->at + 1 : l->b.len;
}

/* R"delimiter( ... )delimiter" seen from its quote. */
static void raw_string(lexer *l)
{
	uint32_t start = ++l->at, n;

	while (l->at < l->b.len && peek(l, 0) != '(' && l->at - start < 16)
		l->at++;
	n = l->at - start;
	for (; l->at < l->b.len; l->at++)
		if (peek(l, 0) == ')' && l->b.len - l->at > n + 1 &&
		    memcmp(l->b.ptr + l->at + 1, l->b.ptr + start, n) == 0 &&
		    l->b.ptr[l->at + 1 + n] == '"') {
			l->at += n + 2;
			return;
		}
}

static uint32_t punctuation_length(const lexer *l)
{
	static const char *const words[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
	                                    "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
	                                    "*=",  "/=",  "%=",  "&=", "|=", "^=", "::", NULL};
	mla_str rest = {l->b.ptr + l->at, l->b.len - l->at};

	for (const char *const *w = words; *w; w++)
		if (mla_str_starts(rest, *w))
			return (uint32_t)strlen(*w);
	return 1;
}

static void pair(lexer *l, mla_token *t)
{
	uint32_t index = l->tokens.n;
	char c = l->b.ptr[t->span.start];
	const char *where = strchr("()[]{}", c);

	if (!where)
		return;
	if ((where - "()[]{}") % 2 == 0) {
		mla_vec_push(&l->open, index);
		if (l->open.n > l->depth)
			l->depth = l->open.n;
		return;
	}
	/* One that does not fit closes nothing: the source is broken, or a macro is. */
	if (l->open.n) {
		uint32_t other = l->open.v[l->open.n - 1];
		char o = l->b.ptr[l->tokens.v[other].span.start];

		if ((c == ')' && o == '(') || (c == ']' && o == '[') || (c == '}' && o == '{')) {
			l->open.n--;
			l->tokens.v[other].match = index;
			t->match = other;
		} else if (c == '}') {
			while (l->open.n &&
			       l->b.ptr[l->tokens.v[l->open.v[l->open.n - 1]].span.start] != '{')
				l->open.n--;
			if (l->open.n) {
				other = l->open.v[--l->open.n];
				l->tokens.v[other].match = index;
				t->match = other;
			}
		}
	}
}

static void token(lexer *l)
{
	mla_token t = {.span = {l->at, l->at}, .match = l->tokens.n, .directive = l->directive};
	char c = peek(l, 0);

	if (is_digit(c) || (c == '.' && is_digit(peek(l, 1)))) {
		t.kind = MLA_TOKEN_NUMBER;
		while (is_name(peek(l, 0)) || peek(l, 0) == '.' ||
		       (peek(l, 0) == '\'' && is_name(peek(l, 1))) ||
		       ((peek(l, 0) == '+' || peek(l, 0) == '-') &&
		        strchr("eEpP", l->b.ptr[l->at - 1]) && l->b.ptr[t.span.start + 1] != 'x'))
			l->at++;
	} else if (is_name(c)) {
		t.kind = MLA_TOKEN_NAME;
		while (is_name(peek(l, 0)))
			l->at++;
		if (peek(l, 0) == '"' && l->b.ptr[l->at - 1] == 'R' && l->at - t.span.start <= 3) {
			t.kind = MLA_TOKEN_STRING;
			raw_string(l);
		}
	} else if (c == '"' || c == '\'') {
		t.kind = MLA_TOKEN_STRING;
		quoted(l, c);
	} else {
		t.kind = MLA_TOKEN_PUNCTUATION;
		l->at += punctuation_length(l);
	}
	t.span.end = l->at;
	if (t.kind == MLA_TOKEN_PUNCTUATION && !l->directive)
		pair(l, &t);
	mla_vec_push(&l->tokens, t);
}

static void step(lexer *l)
{
	char c = peek(l, 0);
	uint32_t joined = continuation(l);

	if (joined) {
		l->at += joined;
	} else if (c == '\n' || c == '\r') {
		l->directive = false;
		l->line_start = true;
		l->at++;
	} else if (c == ' ' || c == '\t' || c == '\f' || c == '\v') {
		l->at++;
	} else if (c == '/' && (peek(l, 1) == '/' || peek(l, 1) == '*')) {
		comment(l);
	} else {
		if (c == '#' && l->line_start)
			l->directive = true;
		l->line_start = false;
		token(l);
	}
}

void mla_tokens_read(mla_tokens *out, mla_arena *arena, mla_str bytes)
{
	lexer l = {.b = bytes, .line_start = true};
	mla_token *tokens;
	mla_span *comments;

	if (bytes.len >= 3 && memcmp(bytes.ptr, "\xEF\xBB\xBF", 3) == 0)
		l.at = 3;
	while (l.at < bytes.len)
		step(&l);
	tokens = mla_arena_array(arena, l.tokens.n, sizeof(*tokens));
	comments = mla_arena_array(arena, l.comments.n, sizeof(*comments));
	if (l.tokens.n)
		memcpy(tokens, l.tokens.v, l.tokens.n * sizeof(*tokens));
	if (l.comments.n)
		memcpy(comments, l.comments.v, l.comments.n * sizeof(*comments));
	*out = (mla_tokens){tokens, l.tokens.n, comments, l.comments.n, l.depth};
	mla_vec_free(&l.tokens);
	mla_vec_free(&l.comments);
	mla_vec_free(&l.open);
}

uint32_t mla_tokens_at(const mla_tokens *t, uint32_t offset)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->v[mid].span.end > offset)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}
