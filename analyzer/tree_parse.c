/* A parse that ends. */
#include "analyzer/tree_parse.h"

#include "analyzer/tree_memory.h"

TSParser *mla_tree_parser(const TSLanguage *language)
{
	TSParser *parser;

	mla_tree_memory_guard();
	parser = ts_parser_new();
	if (ts_parser_set_language(parser, language))
		return parser;
	ts_parser_delete(parser);
	return NULL;
}

#if TREE_SITTER_LANGUAGE_VERSION >= 15 /* the library that has progress callbacks */
#include <time.h>

typedef struct {
	mla_str text;
	time_t end;
} input;

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static const char *read_input(void *payload, uint32_t offset, TSPoint at, uint32_t *n)
{
	const input *in = payload;

	(void)at;
	*n = offset < in->text.len ? in->text.len - offset : 0;
	return in->text.ptr + in->text.len - *n;
}

static bool is_late(TSParseState *state)
{
	return now() > ((const input *)state->payload)->end;
}

static TSTree *parse(TSParser *parser, mla_str text, int seconds)
{
	input in = {text, now() + seconds};
	TSInput from = {.payload = &in, .read = read_input, .encoding = TSInputEncodingUTF8};
	TSParseOptions options = {.payload = &in, .progress_callback = is_late};

	return ts_parser_parse_with_options(parser, NULL, from, options);
}
#else
static TSTree *parse(TSParser *parser, mla_str text, int seconds)
{
	ts_parser_set_timeout_micros(parser, (uint64_t)seconds * 1000000u);
	return ts_parser_parse_string(parser, NULL, text.ptr, text.len);
}
#endif

TSTree *mla_tree_parse(TSParser *parser, mla_str text, int seconds)
{
	TSTree *tree = parse(parser, text, seconds);

	if (!tree)
		ts_parser_reset(parser); /* else the next text would be taken for the rest */
	return tree;
}
