/*
 * Workers spin for a moment after a task, because the next launch usually follows within
 * microseconds, and then sleep: spinning for good stalls everything on a machine with two busy
 * processors.
 */
#include "engine/backend_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/arena.h"

enum { SPINS = 4000, THREADS_MAX = 256 };

struct mla_pool {
	unsigned n; /* workers, the caller not counted */
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, finished;
	atomic_uint generation, next, busy;
	atomic_bool stop;
	unsigned sleepers;  /* under lock */
	bool caller_sleeps; /* under lock */
	uint32_t tasks;
	void (*f)(void *, uint32_t, unsigned);
	void *state;
};

typedef struct {
	mla_pool *pool;
	unsigned worker;
} worker_arg;

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void drain(mla_pool *p, unsigned worker)
{
	uint32_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->tasks)
		p->f(p->state, i, worker);
}

/* Waits until the generation is no longer `seen`. */
static unsigned wait_for_work(mla_pool *p, unsigned seen)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load(&p->generation) != seen)
			return atomic_load(&p->generation);
		relax();
	}
	pthread_mutex_lock(&p->lock);
	p->sleepers++;
	while (atomic_load(&p->generation) == seen)
		pthread_cond_wait(&p->wake, &p->lock);
	p->sleepers--;
	pthread_mutex_unlock(&p->lock);
	return atomic_load(&p->generation);
}

static void *work(void *arg)
{
	worker_arg *a = arg;
	mla_pool *p = a->pool;
	unsigned worker = a->worker, seen = 0;

	free(a);
	for (;;) {
		seen = wait_for_work(p, seen);
		if (atomic_load(&p->stop))
			return NULL;
		drain(p, worker);
		if (atomic_fetch_sub(&p->busy, 1) == 1) {
			pthread_mutex_lock(&p->lock);
			if (p->caller_sleeps)
				pthread_cond_signal(&p->finished);
			pthread_mutex_unlock(&p->lock);
		}
	}
}

static void publish(mla_pool *p)
{
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->generation, 1);
	if (p->sleepers)
		pthread_cond_broadcast(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

mla_pool *mla_pool_new(unsigned threads)
{
	mla_pool *p = mla_alloc(sizeof *p);
	long n = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);

	n = n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : n;
	p->thread = mla_alloc((size_t)n * sizeof *p->thread);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->wake, NULL);
	pthread_cond_init(&p->finished, NULL);
	for (long i = 1; i < n; i++) {
		worker_arg *a = mla_alloc(sizeof *a);

		*a = (worker_arg){p, (unsigned)i};
		/* Fewer threads is slower, not wrong. */
		if (pthread_create(&p->thread[p->n], NULL, work, a) != 0) {
			free(a);
			break;
		}
		p->n++;
	}
	return p;
}

void mla_pool_free(mla_pool *p)
{
	if (!p)
		return;
	atomic_store(&p->stop, true);
	publish(p);
	for (unsigned i = 0; i < p->n; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->finished);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p->thread);
	free(p);
}

unsigned mla_pool_threads(const mla_pool *p)
{
	return p->n + 1;
}

void mla_pool_run(mla_pool *p, uint32_t n, void (*f)(void *, uint32_t, unsigned), void *state)
{
	p->f = f;
	p->state = state;
	p->tasks = n;
	atomic_store(&p->next, 0);
	if (n <= 1 || p->n == 0) {
		drain(p, 0);
		return;
	}
	atomic_store(&p->busy, p->n);
	publish(p);
	drain(p, 0);
	for (int i = 0; i < SPINS && atomic_load(&p->busy); i++)
		relax();
	pthread_mutex_lock(&p->lock);
	p->caller_sleeps = true;
	while (atomic_load(&p->busy))
		pthread_cond_wait(&p->finished, &p->lock);
	p->caller_sleeps = false;
	pthread_mutex_unlock(&p->lock);
}
