/* Pooled keys that need no test of a length, and what only looks like them. */
enum { WINDOW = 4, DIM = 8, WINDOWS = 64 };

struct pool {
	float key[WINDOW * WINDOWS][DIM];
	float pooled[WINDOWS][DIM];
	int seen, ready;
};

void pool_windows(struct pool *p, int first, int rows);

void pool_trim(struct pool *p, int rows)
{
	if (p->seen > rows)
		p->seen = rows;
}

/* The trim sees to the length. */
void pool_update(struct pool *p, int rows)
{
	pool_windows(p, p->ready ? p->seen / WINDOW : 0, rows);
	p->seen = rows;
}

struct stream {
	int seen;
};

/* Nothing is ever pooled as a whole. */
void pool_stream(struct stream *s, struct pool *p, int n_new)
{
	if (n_new > 0)
		pool_windows(p, s->seen / WINDOW, s->seen + n_new);
	s->seen = s->seen + n_new;
}

struct thread_pool {
	int used, size;
};

/* Tasks and threads. */
int pool_take(struct thread_pool *t, int n, int batch)
{
	int share = 0;

	if (n == 1 && t->used < t->size)
		share = t->used / batch;
	t->used = t->used + n;
	return share;
}
