/*
 * What a signal handler may see is global by nature: this is the only such state of the program.
 * The handler runs in any thread, so it and mla_stop_hold() agree who goes first.
 */
#include "cli/stop.h"

#include "analyzer/vec.h"
#include "cli/verbs.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEMPORARIES = 32 };

static atomic_int held, stopping, waiting; /* `waiting` is the number of a signal, or 0 */
static _Atomic(const char *) temporary[TEMPORARIES];
static MLA_VEC(char *) written; /* lines, ready to be put out */
static bool writes;

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static void put(const char *text)
{
	ssize_t n = write(STDERR_FILENO, text, strlen(text));

	(void)n; /* there is nobody left to tell */
}

/* Only calls that a handler may make. */
static void stop(int number)
{
	sigset_t set;

	for (int i = 0; i < TEMPORARIES; i++) {
		const char *path = atomic_load(&temporary[i]);

		if (path)
			unlink(path);
	}
	if (writes)
		put(written.n ? "mlalint: interrupted\n"
		              : "mlalint: interrupted; nothing was written\n");
	for (uint32_t i = 0; i < written.n; i++)
		put(written.v[i]);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	_exit(128 + number);
}

static void on_signal(int number)
{
	int zero = 0;

	if (atomic_exchange(&stopping, 1))
		return;
	if (!atomic_load(&held))
		stop(number);
	atomic_compare_exchange_strong(&waiting, &zero, number);
	atomic_store(&stopping, 0);
}

void mla_stop_start(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;

	for (int i = 0; i < SIGNALS; i++)
		sigaddset(&act.sa_mask, signals[i]);
	for (int i = 0; i < SIGNALS; i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
}

void mla_stop_hold(void)
{
	atomic_fetch_add(&held, 1);
	/* A handler in another thread either sees this and steps back, or ends the program. */
	while (atomic_load(&stopping))
		sched_yield();
}

void mla_stop_release(void)
{
	/* In this order: a signal that still sees it held is seen here. */
	if (atomic_fetch_sub(&held, 1) == 1 && atomic_load(&waiting))
		stop(atomic_load(&waiting));
}

bool mla_stop_asked(void)
{
	return atomic_load(&waiting) != 0;
}

void mla_stop_temporary(const char *path)
{
	const char *none = NULL;

	for (int i = 0; i < TEMPORARIES; i++, none = NULL)
		if (atomic_compare_exchange_strong(&temporary[i], &none, path))
			return;
}

void mla_stop_forget(const char *path)
{
	for (int i = 0; i < TEMPORARIES; i++)
		if (atomic_load(&temporary[i]) == path)
			atomic_store(&temporary[i], NULL);
}

void mla_stop_expect_writing(void)
{
	writes = true;
}

void mla_stop_written(const char *what)
{
	char *line;
	size_t size;
	FILE *f = open_memstream(&line, &size);

	fputs("mlalint: written: ", f);
	mla_put_clean(f, (mla_str){what, (uint32_t)strlen(what)});
	fputc('\n', f);
	fclose(f);
	mla_vec_push(&written, line);
}

void mla_stop_say_written(FILE *to)
{
	if (!written.n)
		fputs("mlalint: nothing was written\n", to);
	for (uint32_t i = 0; i < written.n; i++)
		fputs(written.v[i], to);
}
