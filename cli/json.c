/* JSON values from bytes. */
#include "cli/json.h"

#include "analyzer/arena.h"
#include "analyzer/str.h"
#include "analyzer/utf8.h"

#include <stdlib.h>

json_t *mla_json_text(mla_str s)
{
	json_t *v = json_stringn(s.ptr, s.len);
	char *fixed;
	size_t n = 0;

	if (v)
		return v;
	fixed = mla_alloc(3 * (size_t)s.len + 1);
	for (uint32_t i = 0; i < s.len;) {
		uint32_t code;
		int k = mla_utf8_next(&code, s, i);

		if (k > 0)
			memcpy(fixed + n, s.ptr + i, (size_t)k);
		else
			memcpy(fixed + n, "\xEF\xBF\xBD", 3);
		n += k > 0 ? (size_t)k : 3;
		i += k > 0 ? (uint32_t)k : 1;
	}
	v = json_stringn(fixed, n);
	free(fixed);
	return v ? v : json_null();
}

json_t *mla_json_z(const char *s)
{
	return mla_json_text(mla_str_c(s));
}

void mla_json_put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}
