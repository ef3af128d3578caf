/* Commits as mail that `git am` turns back into the same commits. */
#ifndef MLA_CLI_PATCH_MAIL_H
#define MLA_CLI_PATCH_MAIL_H

#include "cli/patch_series.h"

typedef struct {
	char *name; /* "0001-Subject.patch" */
	char *text;
	size_t size;
} mla_mail;

typedef struct {
	MLA_VEC(mla_mail) v;
} mla_mails;

int mla_mails_make(mla_mails *out, const mla_series *s, const git_signature *author);
void mla_mails_free(mla_mails *m);

/*
 * Writes the files into `folder`, which is made when it is not there; all of them or none. Mail of
 * an earlier run under other names would be applied along with it, and is refused.
 */
int mla_mails_write(const mla_mails *m, const char *folder);
void mla_mails_remove(const mla_mails *m, const char *folder);

#endif
