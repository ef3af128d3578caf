/* JSON values from bytes. */
#include "cli/json.h"

#include "analyzer/arena.h"
#include "analyzer/str.h"
#include "analyzer/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

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

/* A config or a report takes kilobytes; a checkpoint index given by mistake is not read to its end.
 */
enum { FILE_MAX = 4 << 20 };

int mla_json_object_read(json_t **out, const char *path)
{
	json_error_t why;
	struct stat st;

	if (stat(path, &st) < 0)
		return mla_error(MLA_ECONFIG, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return mla_error(MLA_ECONFIG, "%s: not a JSON file of at most %d MB", path,
		                 FILE_MAX >> 20);
	*out = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (!*out)
		return mla_error(MLA_ECONFIG, "%s: line %d: %s", path, why.line, why.text);
	if (json_is_object(*out))
		return 0;
	json_decref(*out);
	return mla_error(MLA_ECONFIG, "%s: not a JSON object", path);
}
