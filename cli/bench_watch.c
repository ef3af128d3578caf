/* The bar goes to standard error, where no report is. */
#include "cli/bench_watch.h"

#include <math.h>
#include <unistd.h>

static double elapsed(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

void mla_bench_time_left(char out[24], double done, double seconds)
{
	double left = done > 0 ? ceil(seconds / done * (1 - done)) : -1;
	unsigned long s;

	out[0] = '\0';
	if (left < 0 || left > 1e7)
		return;
	s = (unsigned long)left;
	if (s < 3600)
		snprintf(out, 24, "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(out, 24, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
}

static bool stop(void *state)
{
	sigset_t pending;

	(void)state;
	return sigpending(&pending) == 0 && sigismember(&pending, SIGINT) == 1;
}

static void progress(void *state, double done, const mla_bench_point *now)
{
	enum { CELLS = 24 };
	static const char full[] = "########################";
	mla_bench_watcher *w = state;
	int filled = (int)(done * CELLS);
	char left[24];

	mla_bench_time_left(left, done, elapsed(&w->start));
	fprintf(w->bar, "\r[%.*s%*s] %3d %%  T=%u L=%u%s%s\033[K", filled, full, CELLS - filled, "",
	        (int)(done * 100), now->cached, now->width, left[0] ? "  left: " : "", left);
	fflush(w->bar);
	w->shown = true;
}

mla_bench_watch mla_bench_watch_begin(mla_bench_watcher *w, bool quiet)
{
	sigset_t interrupt;
	bool bar = !quiet && isatty(STDERR_FILENO);

	*w = (mla_bench_watcher){.bar = bar ? stderr : NULL};
	clock_gettime(CLOCK_MONOTONIC, &w->start);
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_BLOCK, &interrupt, &w->old);
	return (mla_bench_watch){w, stop, bar ? progress : NULL};
}

void mla_bench_watch_end(mla_bench_watcher *w)
{
	sigset_t interrupt;
	int taken;

	if (w->shown)
		fprintf(w->bar, "\r\033[K");
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	if (stop(w))
		sigwait(&interrupt, &taken);
	pthread_sigmask(SIG_SETMASK, &w->old, NULL);
}
