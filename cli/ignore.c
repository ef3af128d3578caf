/* Reading ignore rules and applying them, folder by folder. */
#include "cli/ignore.h"

#include "analyzer/str.h"
#include "cli/glob.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

typedef struct {
	mla_str pattern;
	bool negated, folders_only;
	bool anchored; /* a path from the folder of the rules; else a name in any folder */
} rule;

typedef struct {
	char *bytes;
	MLA_VEC(rule) rules;
} rule_list;

/* A folder from the root to the one at hand. */
typedef struct {
	uint32_t len; /* of its path, with a '/' at the end; 0: the root */
	rule_list list;
	bool ignored; /* and with it everything below */
} level;

struct mla_ignore {
	mla_fileset *set;
	char *folder;
	bool fold;
	rule_list common[2]; /* info/exclude, core.excludesFile: the earlier one counts more */
	MLA_VEC(level) levels;
	char path[PATH_MAX]; /* of the deepest level */
};

static mla_str trim(mla_str line)
{
	uint32_t end = 0;

	if (line.len && line.ptr[line.len - 1] == '\r')
		line.len--;
	/* Blanks at the end do not count, but for one after a backslash. */
	for (uint32_t i = 0; i < line.len; i++) {
		if (line.ptr[i] == '\\' && i + 1 < line.len)
			end = ++i + 1;
		else if (line.ptr[i] != ' ')
			end = i + 1;
	}
	line.len = end;
	return line;
}

static void add_rule(rule_list *out, mla_str s)
{
	rule r = {0};

	if (!s.len || s.ptr[0] == '#')
		return;
	s = trim(s);
	r.negated = s.len && s.ptr[0] == '!';
	s.ptr += r.negated;
	s.len -= r.negated;
	r.folders_only = s.len && s.ptr[s.len - 1] == '/';
	s.len -= r.folders_only;
	r.anchored = s.len && memchr(s.ptr, '/', s.len);
	if (s.len && s.ptr[0] == '/') {
		s.ptr++;
		s.len--;
	}
	r.pattern = s;
	if (s.len)
		mla_vec_push(&out->rules, r);
}

static void parse(rule_list *out, mla_str s)
{
	if (mla_str_starts(s, "\xEF\xBB\xBF")) {
		s.ptr += 3;
		s.len -= 3;
	}
	while (s.len) {
		const char *end = memchr(s.ptr, '\n', s.len);
		uint32_t n = end ? (uint32_t)(end - s.ptr) : s.len;

		add_rule(out, (mla_str){s.ptr, n});
		n += end != NULL;
		s.ptr += n;
		s.len -= n;
	}
}

/* Git does not follow a .gitignore that is a link: it may lead out of the repository. */
static void read_rules(mla_ignore *g, rule_list *out, const char *path, int flags)
{
	enum { LARGEST = 4 << 20 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
	mla_bytes b = {0};
	struct stat st;
	ssize_t got = 1;

	*out = (rule_list){0};
	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			mla_fileset_note(g->set, "%s: its rules do not count: %s", path,
			                 strerror(errno));
		return;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > LARGEST) {
		mla_fileset_note(g->set, "%s: its rules do not count: not a file of rules", path);
		close(fd);
		return;
	}
	b.cap = (size_t)st.st_size;
	b.ptr = mla_alloc(b.cap + 1);
	while (b.len < b.cap && got > 0) {
		got = read(fd, b.ptr + b.len, b.cap - b.len);
		if (got > 0)
			b.len += (size_t)got;
		else if (got < 0 && errno == EINTR)
			got = 1;
	}
	close(fd);
	out->bytes = b.ptr;
	parse(out, (mla_str){b.ptr, (uint32_t)b.len});
}

static void free_rules(rule_list *l)
{
	mla_vec_free(&l->rules);
	free(l->bytes);
}

/* The file of the user's own rules: core.excludesFile, else git/ignore where configuration lives.
 */
static bool excludes_file(char *out, size_t size, git_repository *repo)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	git_config *config, *snapshot = NULL;
	git_buf path = {0};
	bool found = false;

	if (git_repository_config(&config, repo) < 0)
		return false;
	if (git_config_snapshot(&snapshot, config) == 0 &&
	    git_config_get_path(&path, snapshot, "core.excludesfile") == 0)
		found = (size_t)snprintf(out, size, "%s", path.ptr) < size;
	else if (xdg && *xdg)
		found = (size_t)snprintf(out, size, "%s/git/ignore", xdg) < size;
	else if (home)
		found = (size_t)snprintf(out, size, "%s/.config/git/ignore", home) < size;
	git_buf_dispose(&path);
	git_config_free(snapshot);
	git_config_free(config);
	return found;
}

static bool folds_case(git_repository *repo)
{
	git_config *config;
	int fold = 0;

	if (git_repository_config(&config, repo) < 0)
		return false;
	if (git_config_get_bool(&fold, config, "core.ignorecase") < 0)
		fold = 0;
	git_config_free(config);
	return fold;
}

static void push_level(mla_ignore *g, uint32_t len, bool ignored)
{
	level l = {.len = len, .ignored = ignored};
	char path[2 * PATH_MAX];

	if (!ignored) {
		snprintf(path, sizeof(path), "%s/%.*s.gitignore", g->folder, (int)len, g->path);
		read_rules(g, &l.list, path, O_NOFOLLOW);
	}
	mla_vec_push(&g->levels, l);
}

mla_ignore *mla_ignore_new(mla_fileset *set, git_repository *repo, const char *folder)
{
	mla_ignore *g = mla_alloc(sizeof(*g));
	char path[PATH_MAX];

	g->set = set;
	g->folder = mla_copy(folder);
	g->fold = folds_case(repo);
	if ((size_t)snprintf(path, sizeof(path), "%sinfo/exclude", git_repository_commondir(repo)) <
	    sizeof(path))
		read_rules(g, &g->common[0], path, 0);
	if (excludes_file(path, sizeof(path), repo))
		read_rules(g, &g->common[1], path, 0);
	push_level(g, 0, false);
	return g;
}

void mla_ignore_free(mla_ignore *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->levels.n; i++)
		free_rules(&g->levels.v[i].list);
	mla_vec_free(&g->levels);
	free_rules(&g->common[0]);
	free_rules(&g->common[1]);
	free(g->folder);
	free(g);
}

static bool same_letters(const char *a, const char *b, uint32_t n, bool fold)
{
	return fold ? strncasecmp(a, b, n) == 0 : memcmp(a, b, n) == 0;
}

/* Git compares what is before the first wildcard by itself; so two stars right behind letters come
 * to stand at the start of what is left, and cross slashes. */
static bool match_path(const mla_ignore *g, mla_str pattern, mla_str path)
{
	uint32_t n = 0;

	while (n < pattern.len && !memchr("*?[\\", pattern.ptr[n], 4))
		n++;
	if (n > path.len || !same_letters(pattern.ptr, path.ptr, n, g->fold))
		return false;
	if (n == pattern.len)
		return n == path.len;
	return mla_glob((mla_str){pattern.ptr + n, pattern.len - n},
	                (mla_str){path.ptr + n, path.len - n}, g->fold);
}

/* The last rule of a list that matches decides. 1: ignored, 0: not, -1: none matches. */
static int decide(const mla_ignore *g, const rule_list *l, mla_str path, bool is_folder)
{
	mla_str name = path;

	for (uint32_t i = 0; i < path.len; i++)
		if (path.ptr[i] == '/')
			name = (mla_str){path.ptr + i + 1, path.len - i - 1};
	for (uint32_t i = l->rules.n; i-- > 0;) {
		const rule *r = &l->rules.v[i];

		if ((is_folder || !r->folders_only) &&
		    (r->anchored ? match_path(g, r->pattern, path)
		                 : mla_glob(r->pattern, name, g->fold)))
			return !r->negated;
	}
	return -1;
}

/* By the levels that are there, the folders of the path. */
static bool matches(const mla_ignore *g, mla_str path, bool is_folder)
{
	int decision = -1;

	for (uint32_t i = g->levels.n; i-- > 0 && decision < 0;) {
		const level *l = &g->levels.v[i];

		decision = decide(g, &l->list, (mla_str){path.ptr + l->len, path.len - l->len},
		                  is_folder);
	}
	for (int i = 0; i < 2 && decision < 0; i++)
		decision = decide(g, &g->common[i], path, is_folder);
	return decision > 0;
}

bool mla_ignore_path(mla_ignore *g, const char *path, bool is_folder)
{
	size_t len = strlen(path);

	if (!len || len >= sizeof(g->path))
		return false;
	/* Leave the folders that the path is not in, then enter those that it is in. */
	while (g->levels.n > 1 && strncmp(path, g->path, g->levels.v[g->levels.n - 1].len) != 0)
		free_rules(&g->levels.v[--g->levels.n].list);
	memcpy(g->path, path, len + 1);
	for (;;) {
		const level *top = &g->levels.v[g->levels.n - 1];
		const char *slash = strchr(path + top->len, '/');
		uint32_t end;

		if (top->ignored || !slash)
			return top->ignored || matches(g, mla_str_c(path), is_folder);
		end = (uint32_t)(slash - path);
		push_level(g, end + 1, matches(g, (mla_str){path, end}, true));
	}
}
