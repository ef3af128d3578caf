/*
 * git_merge_base() fails where a commit names parents that are not here, which is so at the end of
 * every shallow clone (libgit2 reads the list of these ends since 1.7 only). This walks all commits
 * that are here: few, in a shallow clone.
 */
#include "cli/git_shallow.h"

#include "analyzer/vec.h"

#include <string.h>

enum {
	OF_A = 1,
	OF_B = 2,
	IS_PARENT = 4, /* of a commit that both descend from: there is a better one */
};

typedef struct {
	git_oid id;
	unsigned flags; /* 0: a free slot */
} node;

typedef struct {
	git_repository *repo;
	node *slot;
	uint32_t n, size; /* size: a power of two */
} graph;

/* The slot of a commit, or the free one it would take. */
static node *find(const graph *g, const git_oid *id)
{
	uint32_t at;

	memcpy(&at, id->id, sizeof(at));
	for (at &= g->size - 1; g->slot[at].flags && !git_oid_equal(&g->slot[at].id, id);)
		at = (at + 1) & (g->size - 1);
	return &g->slot[at];
}

static void grow(graph *g)
{
	node *old = g->slot;
	uint32_t size = g->size;

	g->size = size ? 2 * size : 256;
	g->slot = mla_alloc(g->size * sizeof(*g->slot));
	for (uint32_t i = 0; i < size; i++)
		if (old[i].flags)
			*find(g, &old[i].id) = old[i];
	free(old);
}

/* True when the commit did not have the flag before. */
static bool mark(graph *g, const git_oid *id, unsigned flag)
{
	node *n;

	if (2 * g->n >= g->size)
		grow(g);
	n = find(g, id);
	if (n->flags & flag)
		return false;
	g->n += !n->flags;
	n->id = *id;
	n->flags |= flag;
	return true;
}

static void mark_ancestors(graph *g, const git_oid *from, unsigned flag)
{
	MLA_VEC(git_oid) todo = {0};

	mla_vec_push(&todo, *from);
	while (todo.n) {
		git_oid id = todo.v[--todo.n];
		git_commit *c;

		if (git_commit_lookup(&c, g->repo, &id) < 0)
			continue; /* behind the end */
		if (mark(g, &id, flag))
			for (unsigned i = 0; i < git_commit_parentcount(c); i++)
				mla_vec_push(&todo, *git_commit_parent_id(c, i));
		git_commit_free(c);
	}
	mla_vec_free(&todo);
}

/* All ancestors of a common commit are common, so the best ones are no common commit's parent. */
static void mark_parents(graph *g)
{
	for (uint32_t i = 0; i < g->size; i++) {
		git_commit *c;

		if ((g->slot[i].flags & (OF_A | OF_B)) != (OF_A | OF_B) ||
		    git_commit_lookup(&c, g->repo, &g->slot[i].id) < 0)
			continue;
		for (unsigned k = 0; k < git_commit_parentcount(c); k++) {
			node *parent = find(g, git_commit_parent_id(c, k));

			if (parent->flags)
				parent->flags |= IS_PARENT;
		}
		git_commit_free(c);
	}
}

bool mla_git_shallow_base(git_oid *out, git_repository *repo, const git_oid *a, const git_oid *b)
{
	graph g = {.repo = repo};
	git_time_t newest = 0;
	bool found = false;

	mark_ancestors(&g, a, OF_A);
	mark_ancestors(&g, b, OF_B);
	mark_parents(&g);
	for (uint32_t i = 0; i < g.size; i++) {
		git_commit *c;
		git_time_t time;

		if (g.slot[i].flags != (OF_A | OF_B) ||
		    git_commit_lookup(&c, repo, &g.slot[i].id) < 0)
			continue;
		time = git_commit_time(c);
		git_commit_free(c);
		if (found &&
		    (time < newest || (time == newest && git_oid_cmp(&g.slot[i].id, out) > 0)))
			continue;
		*out = g.slot[i].id;
		newest = time;
		found = true;
	}
	free(g.slot);
	return found;
}
