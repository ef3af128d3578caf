/* Lists of names that runtimes in C use. */
#include "analyzer/c_names.h"

#include "analyzer/str.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

void mla_name_split(mla_name_words *out, mla_str name)
{
	uint32_t n = 0;
	bool open = false;

	out->n = 0;
	for (uint32_t i = 0; i < name.len && n + 2 < sizeof(out->text); i++) {
		char c = name.ptr[i];
		bool hump = i && is_upper(c) && !is_upper(name.ptr[i - 1]);

		if (c == '_' || hump) {
			if (open)
				out->text[n++] = '\0';
			open = false;
		}
		if (c == '_')
			continue;
		if (!open) {
			if (out->n == MLA_WORDS_MAX)
				break;
			out->v[out->n++] = out->text + n;
			open = true;
		}
		out->text[n++] = lower(c);
	}
	out->text[n] = '\0';
}

bool mla_name_has(const mla_name_words *w, const char *word)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i], word) == 0)
			return true;
	return false;
}

bool mla_name_has_any(const mla_name_words *w, const char *const *words)
{
	for (; *words; words++)
		if (mla_name_has(w, *words))
			return true;
	return false;
}

/* Do words `first` and `second` follow each other? */
static bool has_pair(const mla_name_words *w, const char *first, const char *second)
{
	for (uint32_t i = 0; i + 1 < w->n; i++)
		if (strcmp(w->v[i], first) == 0 && strcmp(w->v[i + 1], second) == 0)
			return true;
	return false;
}

static bool mentions_any(mla_str name, const char *const *parts)
{
	for (; *parts; parts++)
		if (mla_str_mentions(name, *parts))
			return true;
	return false;
}

static uint32_t weight(const mla_name_words *w)
{
	static const char *const key[] = {"wk", "wkc", "wuk", "uk", "ku", "kup", "wkb", NULL};
	static const char *const value[] = {"wv", "wvc", "wuv", "uv", "vu", "vup", "wvb", NULL};
	static const char *const both[] = {"wkv", "kvb", "wkvb", "wukv", "ukv", NULL};

	/* The down-projections end in a. */
	if (w->n && (strcmp(w->v[w->n - 1], "a") == 0 || mla_name_has(w, "mqa")))
		return 0;
	if (mla_name_has_any(w, both) || has_pair(w, "kv", "b") || has_pair(w, "kv", "up"))
		return MLA_C_BOTH;
	if (mla_name_has_any(w, key) || has_pair(w, "embed", "q") || has_pair(w, "k", "up") ||
	    has_pair(w, "up", "k") || has_pair(w, "k", "b") || has_pair(w, "w", "uk") ||
	    has_pair(w, "w", "kc") || has_pair(w, "key", "up") || has_pair(w, "q", "absorb"))
		return MLA_C_KEY;
	if (mla_name_has_any(w, value) || has_pair(w, "unembed", "out") || has_pair(w, "v", "up") ||
	    has_pair(w, "up", "v") || has_pair(w, "v", "b") || has_pair(w, "w", "uv") ||
	    has_pair(w, "w", "vc") || has_pair(w, "value", "up") || has_pair(w, "out", "absorb"))
		return MLA_C_VALUE;
	return 0;
}

bool mla_name_is_weight(mla_str name)
{
	static const char *const last[] = {"b", "weight", "weights", "proj", NULL};
	mla_name_words w;

	mla_name_split(&w, name);
	return w.n && weight(&w) && (w.v[0][0] == 'w' || mla_str_in(mla_str_c(w.v[w.n - 1]), last));
}

uint32_t mla_name_tensor(mla_str name)
{
	static const char *const rotary[] = {"rope", "rot",   "rotary", "pe", "kr",
	                                     "krot", "krope", "kpe",    NULL};
	static const char *const latent[] = {"latent", "latents", "lat",        "ckv", "cached",
	                                     "cache",  "lc",      "compressed", NULL};
	static const char *const chosen[] = {"topk", "sel", "selected", "chosen", "picked", NULL};
	static const char *const folded[] = {"absorbed", "qabs", "qlat", NULL};
	mla_name_words w;
	uint32_t tags;

	mla_name_split(&w, name);
	if (!w.n)
		return 0;
	if (mla_name_has_any(&w, chosen) || has_pair(&w, "top", "k"))
		return MLA_C_CHOSEN;
	if ((tags = weight(&w)))
		return tags;
	if (w.v[0][0] == 'q' && (w.n == 1 ? strlen(w.v[0]) <= 2 : strlen(w.v[0]) == 1)) {
		if (mla_name_has_any(&w, folded) || mla_name_has_any(&w, latent))
			return MLA_C_FOLDED;
		return MLA_C_QUERY;
	}
	if (mla_name_has(&w, "query") || mla_name_has(&w, "queries"))
		return MLA_C_QUERY;
	if (mla_name_has_any(&w, rotary))
		return MLA_C_ROTARY;
	if (mla_name_has(&w, "mask") || mla_name_has(&w, "kqv"))
		return 0;
	if (has_pair(&w, "kv", "compressed"))
		return MLA_C_NEW;
	if (mla_name_has_any(&w, latent) || has_pair(&w, "c", "kv") || has_pair(&w, "kv", "c") ||
	    has_pair(&w, "k", "l") || has_pair(&w, "kv", "lora") || has_pair(&w, "kv", "latent"))
		return MLA_C_LATENT;
	return 0;
}

static const char *const count_words[] = {"tokens", "token",   "ntok",     "ntokens", "toks", "tok",
                                          "nq",     "queries", "nqueries", "query",   "qlen", "lq",
                                          "seqlen", "nbatch",  "nrows",    "nnew",    NULL};

static const char *const no_count_words[] = {
	"max",     "min",    "per",   "head",   "heads", "chunk", "vocab",   "expert",
	"experts", "used",   "layer", "layers", "dim",   "size",  "ubatch",  "id",
	"ids",     "offset", "step",  "last",   "first", "out",   "outputs", "parallel",
	"predict", "type",   "pre",   "kind",   "mode",  "all",   "queued",  NULL};

static const char *const number_words[] = {"n", "num", "len", "length", "count", "nr", NULL};

static bool is_short_count(mla_str name)
{
	return name.len == 1 && (name.ptr[0] == 'S' || name.ptr[0] == 'L' || name.ptr[0] == 'm');
}

uint32_t mla_name_integer(mla_str name)
{
	static const char *const cached[] = {"kv",  "cache", "cached", "ctx",   "past",  "total",
	                                     "pos", "nkv",   "tk",     "kvlen", "cells", NULL};
	static const char *const loose[] = {"batch", "rows", "seq", "new", "q", NULL};
	mla_name_words w;
	bool length;

	mla_name_split(&w, name);
	if (!w.n)
		return 0;
	if (mla_name_has(&w, "rank") || mla_name_has(&w, "lora"))
		return mla_name_has(&w, "q") ? 0 : MLA_C_RANK;
	if (mla_name_has(&w, "nope"))
		return MLA_C_NOPE;
	if (mla_name_has(&w, "vdim") || has_pair(&w, "v", "head") || has_pair(&w, "head", "v") ||
	    has_pair(&w, "v", "dim") || has_pair(&w, "value", "dim") || has_pair(&w, "n", "v") ||
	    (w.n == 1 && strcmp(w.v[0], "v") == 0) || has_pair(&w, "head", "dimv") ||
	    mla_name_has(&w, "vd") || mla_name_has(&w, "hv") || mla_name_has(&w, "nv"))
		return MLA_C_VDIM;
	if (mla_name_has(&w, "rope") || mla_name_has(&w, "rot") || mla_name_has(&w, "rotary"))
		return MLA_C_ROPE;
	if (has_pair(&w, "head", "k") || has_pair(&w, "k", "head"))
		return MLA_C_HEAD_K;
	length = mla_name_has_any(&w, cached);
	if (length || strcmp(w.v[0], "t") == 0)
		return MLA_C_LENGTH;
	if (mla_name_has_any(&w, no_count_words))
		return 0;
	if (mla_name_has_any(&w, count_words))
		return MLA_C_COUNT;
	if (mla_name_has_any(&w, loose) && mla_name_has_any(&w, number_words))
		return MLA_C_COUNT;
	return is_short_count(name) ? MLA_C_COUNT : 0;
}

bool mla_name_counts_queries(mla_str name)
{
	static const char *const one[] = {"token", "tok", "query", NULL};
	mla_name_words w;

	if (!(mla_name_integer(name) & MLA_C_COUNT))
		return false;
	mla_name_split(&w, name);
	if (mla_name_has_any(&w, one) && !mla_name_has_any(&w, number_words))
		return false; /* which one it is, not how many there are */
	return is_short_count(name) || mla_name_has_any(&w, count_words);
}

bool mla_name_is_evidence(mla_str name)
{
	static const char *const parts[] = {"absorb",  "latent",  "materiali", "lora_kv",
	                                    "kv_lora", "kv_rank", NULL};
	mla_name_words w;

	mla_name_split(&w, name);
	return mla_name_has(&w, "mla") || mentions_any(name, parts) || weight(&w) == MLA_C_BOTH ||
	       has_pair(&w, "wk", "b") || has_pair(&w, "wv", "b");
}

bool mla_name_passes_condition(mla_str name)
{
	static const char *const words[] = {"expect", "likely", "unlikely", NULL};
	mla_name_words w;

	mla_name_split(&w, name);
	return mla_name_has_any(&w, words);
}

mla_c_function mla_name_function(mla_str name)
{
	static const char *const product[] = {"matmul", "mul_mat", "mulmat", "gemm",
	                                      "gemv",   "mat_vec", "matvec", NULL};
	static const char *const attend[] = {"flash", "sdpa", "attend", NULL};
	static const char *const layout[] = {"permute", "cont", "contiguous", "transpose", NULL};
	static const char *const gather[] = {"rows", "gather", "select", NULL};
	static const char *const allocate[] = {"malloc", "calloc", "realloc",
	                                       "alloca", "new",    NULL};
	static const char *const all[] = {"latent", "latents", "kv", "cache", "all", "rows", NULL};
	mla_name_words w;

	mla_name_split(&w, name);
	if (mentions_any(name, product) || mla_name_has(&w, "mul") || mla_name_has(&w, "mm") ||
	    mla_name_has(&w, "linear") || mla_name_has(&w, "dot") || mla_name_has(&w, "fma") ||
	    mla_name_has(&w, "fmaf"))
		return MLA_C_PRODUCT;
	if (mla_name_has(&w, "topk") || has_pair(&w, "top", "k") || mla_name_has(&w, "argsort"))
		return MLA_C_TOP_K;
	if ((mla_name_has(&w, "get") && mla_name_has(&w, "rows")) || mla_name_has(&w, "gather") ||
	    (mla_name_has(&w, "index") && mla_name_has_any(&w, gather)))
		return MLA_C_GATHER;
	if ((mla_name_has(&w, "project") || mla_name_has(&w, "unabsorb") ||
	     mla_name_has(&w, "decompress")) &&
	    (mla_name_has(&w, "latent") || mla_name_has(&w, "out") || mla_name_has(&w, "context")))
		return MLA_C_FOLLOWUP;
	if ((mla_name_has(&w, "absorb") || mla_name_has(&w, "fold")) &&
	    (mla_name_has(&w, "query") || mla_name_has(&w, "q")))
		return MLA_C_FOLD;
	if (mentions_any(name, (const char *const[]){"materiali", NULL}) ||
	    ((mla_name_has(&w, "expand") || mla_name_has(&w, "decompress")) &&
	     mla_name_has_any(&w, all)))
		return MLA_C_EXPAND;
	if (mentions_any(name, attend) || mla_name_has(&w, "attn") || mla_name_has(&w, "attention"))
		return MLA_C_ATTEND;
	if (mla_name_has_any(&w, layout) && !mla_name_has(&w, "is"))
		return MLA_C_LAYOUT;
	if (mla_name_has_any(&w, allocate))
		return MLA_C_ALLOCATE;
	return MLA_C_PASS;
}
