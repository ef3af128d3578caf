/*
 * A switch saves the callee-saved registers on the stack it leaves and takes them from the stack it
 * enters: about 40 ns, where ucontext makes a system call for the signal mask. x86-64 and aarch64;
 * elsewhere ucontext.
 */
#if !defined(__x86_64__) && !defined(__aarch64__)
#define _XOPEN_SOURCE 700
#include <ucontext.h>
#define USE_UCONTEXT 1
#endif
#define _DEFAULT_SOURCE 1
#include "engine/backend_fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "analyzer/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

#ifndef MAP_ANONYMOUS
#define MAP_ANONYMOUS MAP_ANON
#endif

enum { STACK = 128 * 1024, GUARD = 64 * 1024 };

typedef struct {
#ifdef USE_UCONTEXT
	ucontext_t context;
#else
	void *sp;
#endif
	void (*entry)(void *, unsigned);
	void *arg;
	int ended;
} fiber;

struct mla_fibers {
#ifdef USE_UCONTEXT
	ucontext_t home;
#else
	void *home;
#endif
	unsigned n, current;
	char *stacks; /* n of GUARD + STACK; the guard is below, where a stack would overflow into
	               */
	fiber f[];
};

static char *stack_of(const mla_fibers *f, unsigned i)
{
	return f->stacks + (size_t)i * (GUARD + STACK) + GUARD;
}

mla_fibers *mla_fibers_new(unsigned n)
{
	mla_fibers *f = mla_alloc(sizeof *f + n * sizeof *f->f);
	size_t size = (size_t)n * (GUARD + STACK);

	f->n = n;
	f->stacks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->stacks == MAP_FAILED) {
		free(f);
		return NULL;
	}
	for (unsigned i = 0; i < n; i++)
		(void)mprotect(stack_of(f, i) - GUARD, GUARD, PROT_NONE);
	return f;
}

void mla_fibers_free(mla_fibers *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < f->n; i++)
		ASAN_UNPOISON_MEMORY_REGION(stack_of(f, i), STACK);
	munmap(f->stacks, (size_t)f->n * (GUARD + STACK));
	free(f);
}

unsigned mla_fiber_current(const mla_fibers *f)
{
	return f->current;
}

int mla_fiber_ended(const mla_fibers *f, unsigned i)
{
	return f->f[i].ended;
}

/* The first function on a fiber's stack; never returns. */
static void run(mla_fibers *f)
{
	fiber *me = &f->f[f->current];

	me->entry(me->arg, f->current);
	me->ended = 1;
	mla_fiber_yield(f);
	abort();
}

#ifdef USE_UCONTEXT
static void run_halves(unsigned high, unsigned low)
{
	run((mla_fibers *)(((uintptr_t)high << 16 << 16) | low));
}

void mla_fiber_reset(mla_fibers *f, unsigned i, void (*entry)(void *, unsigned), void *arg)
{
	uintptr_t p = (uintptr_t)f;

	f->f[i].entry = entry;
	f->f[i].arg = arg;
	f->f[i].ended = 0;
	getcontext(&f->f[i].context);
	f->f[i].context.uc_stack.ss_sp = stack_of(f, i);
	f->f[i].context.uc_stack.ss_size = STACK;
	makecontext(&f->f[i].context, (void (*)(void))run_halves, 2, (unsigned)(p >> 16 >> 16),
	            (unsigned)p);
}

void mla_fiber_resume(mla_fibers *f, unsigned i)
{
	f->current = i;
	swapcontext(&f->home, &f->f[i].context);
}

void mla_fiber_yield(mla_fibers *f)
{
	swapcontext(&f->f[f->current].context, &f->home);
}
#else
/* Leaves the stack whose pointer is stored to *save, enters `to`. */
void mla_fiber_switch(void **save, void *to);
/* Where a new fiber starts: its first argument waits in a callee-saved register. */
void mla_fiber_start(void);

#ifdef __APPLE__
#define SYMBOL(name) "_" #name
#else
#define SYMBOL(name) #name
#endif

/* clang-format off */
#if defined(__x86_64__)
__asm__(
	".text\n"
	".globl " SYMBOL(mla_fiber_switch) "\n"
	SYMBOL(mla_fiber_switch) ":\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".globl " SYMBOL(mla_fiber_start) "\n"
	SYMBOL(mla_fiber_start) ":\n"
	"	mov %r12, %rdi\n"
	"	call *%r13\n"
	"	ud2\n");

/* 9, so that the stack is aligned to 16 bytes where mla_fiber_start calls. */
enum { FRAME = 9, FRAME_ARG = 3, FRAME_RUN = 2, FRAME_PC = 6 };
#else
__asm__(
	".text\n"
	".globl " SYMBOL(mla_fiber_switch) "\n"
	SYMBOL(mla_fiber_switch) ":\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".globl " SYMBOL(mla_fiber_start) "\n"
	SYMBOL(mla_fiber_start) ":\n"
	"	mov x0, x19\n"
	"	blr x20\n"
	"	brk #1\n");

enum { FRAME = 20, FRAME_ARG = 0, FRAME_RUN = 1, FRAME_PC = 11 };
#endif
/* clang-format on */

void mla_fiber_reset(mla_fibers *f, unsigned i, void (*entry)(void *, unsigned), void *arg)
{
	char *top = stack_of(f, i) + STACK;
	uintptr_t frame[FRAME] = {0};

	ASAN_UNPOISON_MEMORY_REGION(stack_of(f, i), STACK);
	f->f[i].entry = entry;
	f->f[i].arg = arg;
	f->f[i].ended = 0;
	frame[FRAME_ARG] = (uintptr_t)f;
	frame[FRAME_RUN] = (uintptr_t)run;
	frame[FRAME_PC] = (uintptr_t)mla_fiber_start;
	f->f[i].sp = memcpy(top - sizeof frame, frame, sizeof frame);
}

void mla_fiber_resume(mla_fibers *f, unsigned i)
{
	f->current = i;
	mla_fiber_switch(&f->home, f->f[i].sp);
}

void mla_fiber_yield(mla_fibers *f)
{
	mla_fiber_switch(&f->f[f->current].sp, f->home);
}
#endif
