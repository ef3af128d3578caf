/* Means of windows of keys are kept, and only the windows behind a remembered length made anew. */
enum { WINDOW = 4, DIM = 8, WINDOWS = 64 };

struct memo {
	float key[WINDOW * WINDOWS][DIM];
	float mean[WINDOWS][DIM];
	int seen;
	int ready;
};

static void summarise(struct memo *m, int first, int rows)
{
	for (int w = first; w * WINDOW < rows; w++) {
		int end = w * WINDOW + WINDOW < rows ? w * WINDOW + WINDOW : rows;

		for (int t = w * WINDOW; t < end; t++)
			for (int i = 0; i < DIM; i++)
				m->mean[w][i] += m->key[t][i] / (float)(end - w * WINDOW);
	}
}

void one_less(struct memo *m, int fresh_tokens, int rows)
{
	if (m->ready && fresh_tokens == 1 && m->seen == rows - 1) /* expect: MLA101 select */
		summarise(m, m->seen / WINDOW, rows);
	else
		summarise(m, 0, rows);
	m->seen = rows;
}

void by_flag(struct memo *m, int n_new, int rows)
{
	int start = m->seen - m->seen % WINDOW;
	int afresh = n_new > 1 || !m->ready; /* expect: MLA101 select expect: MLA102 select */

	if (afresh)
		start = 0;
	summarise(m, start / WINDOW, rows);
	m->seen = rows;
}

void leaves_early(struct memo *m, int n_new, int rows)
{
	const int seen = m->seen;

	if (n_new != 1 || seen + n_new != rows) { /* expect: MLA101 select */
		summarise(m, 0, rows);
		m->seen = rows;
		return;
	}
	summarise(m, seen >> 2, rows);
	m->seen = rows;
}

void never_looks(struct memo *m, int n_new, int rows)
{
	summarise(m, m->ready ? m->seen / WINDOW : 0, rows); /* expect: MLA102 select */
	m->seen = rows;
}

void counts_on_one(struct memo *m, int n_new, int rows)
{
	if (n_new == 1 && m->ready && m->seen == rows - n_new) { /* expect: MLA101 select */
		m->key[rows - 1][0] = 0;
		summarise(m, m->seen / WINDOW, rows);
	} else {
		summarise(m, 0, rows);
	}
	m->seen = rows;
}

void checked(struct memo *m, int n_new, int rows)
{
	const int continues = m->ready && m->seen == rows - n_new;

	summarise(m, continues ? m->seen / WINDOW : 0, rows);
	m->seen = rows;
}
