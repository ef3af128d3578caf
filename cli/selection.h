/* Which rules a list of codes, prefixes and names means. */
#ifndef MLA_CLI_SELECTION_H
#define MLA_CLI_SELECTION_H

#include "rules/rule.h"

typedef struct {
	const mla_str *v;
	uint32_t n;
} mla_strs;

/* "a, b" to its parts, blanks around them dropped. MLA_ECONFIG, with `what` in front of the
 * message, when there is none. */
int mla_strs_split(mla_strs *out, mla_arena *arena, const char *what, const char *list);

/* MLA_ECONFIG when an entry means no rule. */
int mla_codes_check(const char *what, const mla_strs *codes);

/* Does one entry (code, prefix of a code, name or ALL) mean the rule? */
bool mla_code_means(mla_str entry, const mla_rule *rule);
bool mla_codes_mean(const mla_strs *codes, const mla_rule *rule);

/* MLA_ECONFIG for what is no rule, with what was meant; `what` names the option, or is empty. */
int mla_rule_refuse(const char *what, mla_str entry);

enum { MLA_PATTERN_MAX = 512 }; /* bytes */

/* MLA_ECONFIG for a pattern of paths that is none or can match nothing. */
int mla_pattern_check(const char *what, mla_str pattern);

#endif
