/* Classes: bases across files, methods, and what their constructors leave on `self`. */
#ifndef MLA_ANALYZER_CLASS_H
#define MLA_ANALYZER_CLASS_H

#include "analyzer/project.h"

typedef struct {
	mla_module *module;
	const mla_node *node; /* CLASS; NULL: no class */
} mla_class;

/* A class and its bases that are in the project, most derived first, each once. */
enum { MLA_LINEAGE_MAX = 16 };
typedef struct {
	mla_class v[MLA_LINEAGE_MAX];
	uint32_t n;
	bool open; /* some base is not in the project (nn.Module and object do not count) */
} mla_lineage;

void mla_class_lineage(mla_lineage *out, mla_project *p, mla_class c);

/* The class's own method, not a base's; NULL when it has none of that name. */
const mla_node *mla_class_method(mla_class c, mla_str name);

typedef struct {
	mla_class owner;
	const mla_node *node; /* FUNCTION or NULL */
} mla_method;

mla_method mla_lineage_method(const mla_lineage *l, mla_str name);

/* The constructors that run for an instance, most derived first: a base's only if it is called. */
typedef struct {
	mla_method v[MLA_LINEAGE_MAX];
	uint32_t n;
} mla_constructors;

void mla_class_constructors(mla_constructors *out, mla_project *p, const mla_lineage *l);

/* The call in constructor `init` that runs a base's constructor, or NULL. */
const mla_node *mla_constructor_super(const mla_node *init);

/* One `self.name = value` of a constructor. */
typedef struct {
	mla_method init;
	const mla_node *value;     /* NULL when it is set some other way (unpacking, a loop) */
	const mla_node *statement; /* directly in the constructor's body: it holds the assignment */
	uint32_t count;            /* assignments of this name in that constructor */
} mla_attribute;

/* The last one in the most derived constructor that sets it. False: none does. */
bool mla_class_attribute(mla_attribute *out, const mla_constructors *c, mla_str name);

/* Is it decorated with `name` (staticmethod, classmethod, property)? */
bool mla_method_is(const mla_node *function, const char *name);

/* The name of the first parameter of a method (`self`), or an empty string. */
mla_str mla_method_self(const mla_node *function);
const mla_node *mla_parameter(const mla_node *function, mla_str name);

#endif
