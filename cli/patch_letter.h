/* A commit message while it is written; patch_message.c and patch_evidence.c share it. */
#ifndef MLA_CLI_PATCH_LETTER_H
#define MLA_CLI_PATCH_LETTER_H

#include "cli/patch_series.h"
#include "cli/patch_text.h"

typedef struct {
	const mla_series *s;
	const mla_commit *c;
	mla_arena *arena;
	FILE *to;
} mla_letter;

void mla_letter_paragraph(mla_letter *l, mla_str text);
void mla_letter_list(mla_letter *l, mla_str heading); /* a paragraph that items follow */
void mla_letter_item(mla_letter *l, mla_str text);

/* "models/x.py:155" */
mla_str mla_letter_place(const mla_letter *l, const mla_finding *f);

/* Does a fix of the commit insert this form of the threshold? */
bool mla_letter_uses(const mla_letter *l, mla_form form);

/* The number of the i-th fix in the tables, from 1. */
uint32_t mla_letter_number(const mla_letter *l, uint32_t i);

/* What changes where. */
void mla_letter_places(mla_letter *l);

/* The verification table, its worst numbers, and the sites that were not verified. */
void mla_letter_evidence(mla_letter *l);

/* What the engine has to say of each site besides. */
void mla_letter_notes(mla_letter *l);

#endif
