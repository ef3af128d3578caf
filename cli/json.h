/* Building JSON with jansson: the few things every report does. */
#ifndef MLA_CLI_JSON_H
#define MLA_CLI_JSON_H

#include "analyzer/base.h"

#include <jansson.h>

json_t *mla_json_text(mla_str s); /* bytes; what is not UTF-8 becomes U+FFFD */
json_t *mla_json_z(const char *s);
void mla_json_put(json_t *object, const char *key, json_t *value); /* takes value */

/* The object of a file, to be released with json_decref(). MLA_ECONFIG says what is wrong with it.
 */
int mla_json_object_read(json_t **out, const char *path);

#endif
