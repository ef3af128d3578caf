/* A rule: what it is called, what it explains, and how it turns facts into findings. */
#ifndef MLA_RULES_RULE_H
#define MLA_RULES_RULE_H

#include "analyzer/facts.h"
#include "analyzer/suppress.h"

typedef enum { MLA_NOTE, MLA_WARNING, MLA_ERROR } mla_severity;
typedef enum { MLA_FIX_NEVER, MLA_FIX_SOMETIMES } mla_fix_availability;

typedef struct mla_rule mla_rule;
typedef struct mla_findings mla_findings;

typedef struct {
	const mla_rule *rule;
	mla_module *module;
	mla_severity severity; /* the rule's, unless a configuration gives another one */
	mla_span span;         /* what is underlined: the test, not the whole statement */
	mla_role role;         /* MLA_ROLE_NONE: not about a decision, and no test and no site */
	const mla_test *test;
	const mla_site *site;
	const mla_pool *pool;               /* of MLA101 and MLA102, else NULL */
	const mla_test *pair;               /* the other test of the same decision, or NULL */
	const mla_suppression *suppression; /* that covers it; of MLA900: that it is about */
	uint64_t used_codes;                /* of MLA900: those in the comment that are of use */
	mla_str symbol;                     /* the function it is about; empty: none */
	mla_str message;
	mla_str no_fix; /* why there is no fix; empty when a fixer may try */
	bool threshold_known;
	mla_threshold threshold;
} mla_finding;

struct mla_findings {
	mla_arena *arena;
	mla_finding *v;
	uint32_t n, cap;
	mla_finding *suppressed; /* taken out, each with the comment that covers it */
	uint32_t suppressed_n;
	mla_suppressions suppressions; /* of the module at hand */
	uint64_t *used;                /* for each of them, a bit for each code that was of use */
	const bool *on;                /* the rules that run, indexed like mla_rules */
};

struct mla_rule {
	const char *code;           /* "MLA001" */
	const char *name;           /* "single-query-absorb" */
	const char *summary;        /* one line */
	const char *doc;            /* Markdown: what, why, example, use instead, fix safety */
	const char *commit_subject; /* of a commit that makes its fixes: under 60 characters */
	const char *commit_reason;  /* a paragraph for it; both may be NULL: the summary then */
	mla_severity severity;
	mla_fix_availability fix;
	bool opt_in;             /* runs only when it is selected */
	bool cached_form;        /* while it runs, fixes insert the cache-length form */
	bool about_loading;      /* looks at functions that sanitize weights */
	bool about_suppressions; /* runs after the suppressions have been applied */
	int (*check)(const mla_rule *self, const mla_facts *facts, mla_findings *out);
};

/* More than there are. */
enum { MLA_RULES_MAX = 32 };

/* All rules in code order; NULL at the end. */
extern const mla_rule *const mla_rules[];

/* By code or by name; NULL when there is none. */
const mla_rule *mla_rule_find(mla_str code_or_name);

const char *mla_severity_name(mla_severity s);

/* A new finding at the end of the list, zeroed but for its rule. */
mla_finding *mla_finding_add(mla_findings *out, const mla_rule *rule);

#endif
