/* The rolling hash of GitHub's upload action, value for value. */
#include "cli/line_hash.h"

#include "analyzer/arena.h"
#include "analyzer/utf8.h"

#include <stdlib.h>

/* As the action has them: the window, the base, and the unit that stands for the end of a file. */
enum { WINDOW = 100, BASE = 37, END_OF_FILE = 65535 };

typedef struct {
	uint64_t hash, oldest_factor; /* BASE to the power of WINDOW; all arithmetic wraps */
	uint16_t unit[WINDOW];
	uint32_t line[WINDOW]; /* the line that starts at this unit, or 0 */
	uint32_t at, lines, size;
	bool line_start, after_cr;
	mla_line_hash *out;
} roller;

static void put(roller *r)
{
	if (r->line[r->at] && r->line[r->at] <= r->size)
		r->out[r->line[r->at] - 1].hash = r->hash;
	r->line[r->at] = 0;
}

static void roll(roller *r, uint16_t unit)
{
	r->hash = BASE * r->hash + unit - r->oldest_factor * r->unit[r->at];
	r->unit[r->at] = unit;
	r->at = (r->at + 1) % WINDOW;
}

static void take(roller *r, uint16_t unit)
{
	bool skipped = unit == ' ' || unit == '\t' || (r->after_cr && unit == '\n');

	r->after_cr = unit == '\r';
	if (skipped)
		return;
	if (unit == '\r')
		unit = '\n';
	put(r);
	if (r->line_start)
		r->line[r->at] = ++r->lines;
	r->line_start = unit == '\n';
	roll(r, unit);
}

static void take_text(roller *r, mla_str s)
{
	for (uint32_t i = 0; i < s.len;) {
		uint32_t code;
		int n = mla_utf8_next(&code, s, i);

		i += (uint32_t)(n > 0 ? n : -n);
		if (code < 0x10000) {
			take(r, (uint16_t)code);
		} else {
			take(r, (uint16_t)(0xD800 + ((code - 0x10000) >> 10)));
			take(r, (uint16_t)(0xDC00 + ((code - 0x10000) & 0x3FF)));
		}
	}
}

static int by_hash(const void *pa, const void *pb)
{
	const mla_line_hash *a = *(const mla_line_hash *const *)pa;
	const mla_line_hash *b = *(const mla_line_hash *const *)pb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a > b) - (a < b); /* pointers into one array: in the order of the lines */
}

static void count_occurrences(mla_line_hash *v, uint32_t n)
{
	mla_line_hash **order = mla_alloc(n * sizeof(*order));

	for (uint32_t i = 0; i < n; i++)
		order[i] = &v[i];
	qsort(order, n, sizeof(*order), by_hash);
	for (uint32_t i = 0; i < n; i++)
		order[i]->occurrence = i && order[i - 1]->hash == order[i]->hash
		                               ? order[i - 1]->occurrence + 1
		                               : 1;
	free(order);
}

mla_line_hash *mla_line_hashes(const mla_text *t)
{
	roller r = {.size = mla_text_line_count(t), .line_start = true, .oldest_factor = 1};

	r.out = mla_alloc(r.size * sizeof(*r.out));
	for (int i = 0; i < WINDOW; i++)
		r.oldest_factor *= BASE;
	take_text(&r, mla_text_bytes(t));
	take(&r, END_OF_FILE);
	for (int i = 0; i < WINDOW; i++) {
		put(&r);
		roll(&r, 0);
	}
	count_occurrences(r.out, r.size);
	return r.out;
}
