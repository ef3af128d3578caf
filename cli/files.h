/* What is scanned: the roots, the files under them, and reading them. */
#ifndef MLA_CLI_FILES_H
#define MLA_CLI_FILES_H

#include "analyzer/text.h"
#include "analyzer/vec.h"
#include "cli/options.h"

#include <sys/stat.h>

typedef enum {
	MLA_FILE_CHECKED, /* read, and looked at as far as it concerns us */
	MLA_FILE_PARTIAL,
	MLA_FILE_SKIPPED,
	MLA_FILE_FAILED,
} mla_file_state;

typedef struct {
	char *path; /* from its root, '/' between parts: as reported */
	mla_file_state state;
	char reason[160];
	bool parsed;    /* not dismissed by a look at its words */
	bool named;     /* given on the command line itself */
	bool doubtful;  /* partial, and a finding may have been lost */
	uint32_t order; /* in a shard: its place among the files of the whole */
	mla_text *text; /* of standard input, until a module owns it; else NULL */
} mla_file;

/* A repository, or the folder that paths are relative to. */
typedef struct {
	char *folder;                   /* absolute, without '/' at the end */
	struct mla_git_tree *git;       /* the files of a revision; NULL: those of the disk */
	MLA_VEC(mla_file) files;        /* sorted by path */
	MLA_VEC(mla_file) unread;       /* imported, and not to be read */
	MLA_VEC(const char *) left_out; /* for each excluded folder, what excludes it */
	MLA_VEC(char *) ignored;        /* sources and folders that git ignores, in no order */
} mla_tree;

typedef struct {
	MLA_VEC(mla_tree) trees;
	MLA_VEC(char *) notes; /* what a person has to know besides, one line each */
} mla_fileset;

/* Walks the paths of the options; "-" reads standard input. MLA_EIO for a path that does not exist,
 * MLA_EGIT where a revision is asked for and cannot be had. Folders that `configs` exclude are not
 * entered; NULL: all are. */
struct mla_configs;
int mla_fileset_collect(mla_fileset *out, const mla_options *o, struct mla_configs *configs);
void mla_fileset_free(mla_fileset *s);
void mla_tree_free(mla_tree *t); /* what it holds */

/* The tree of a folder, made when there is none. Valid until the next one is made. */
mla_tree *mla_fileset_tree(mla_fileset *s, const char *folder);
void mla_fileset_note(mla_fileset *s, const char *fmt, ...) MLA_PRINTF(2, 3);

/* A file to check, and one that is not. */
mla_file *mla_tree_add(mla_tree *t, const char *path);
mla_file *mla_tree_leave_out(mla_tree *t, const char *path, mla_file_state state,
                             const char *reason);

/* Sorts the files and keeps one that was reached twice once. */
int mla_tree_settle(mla_tree *t);

bool mla_file_is_source(const char *name);

/* On the heap. */
char *mla_copy(const char *s);

/* A buffer that one reader after the other uses; free(buffer.ptr) in the end. */
typedef struct {
	char *ptr;
	size_t len, cap;
} mla_bytes;

/* All of an open file, which had `size` bytes and may not grow. */
int mla_bytes_read(mla_bytes *out, int fd, size_t size);

/* The bytes of a file under `tree`, as mla_file_read() gives its text. */
int mla_file_bytes(mla_bytes *out, struct stat *st, const mla_tree *tree, const char *path);

/* Reads a file under `tree`. On failure the message is the system's reason. 1: no such file. */
int mla_file_read(mla_text **out, struct stat *st, const mla_tree *tree, const char *path);

/* Is there anything at the path? */
bool mla_file_exists(const mla_tree *tree, const char *path);

/* The path to show a person: relative to the working directory where it is below it; in a revision
 * it stays as it is. */
void mla_file_display(char *out, size_t size, const mla_tree *tree, const char *path);

#endif
