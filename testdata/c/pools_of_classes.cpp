// Members, vectors, the largest key of a window, and a length that is set back.
#include <algorithm>
#include <cstddef>
#include <vector>

constexpr size_t window = 4;

class indexer {
    std::vector<float> keys, pooled;
    size_t covered = 0, dim = 8;

public:
    void append(size_t n_new, size_t total) {
        size_t first = 0;
        if (n_new < 2 && covered + n_new == total)  // expect: MLA101 select
            first = covered / window * window;
        for (size_t b = first; b < total; b += window)
            for (size_t t = b; t < std::min(b + window, total); t++)
                for (size_t i = 0; i < dim; i++)
                    pooled[b / window * dim + i] = std::max(pooled[b / window * dim + i], keys[t * dim + i]);
        covered = total;
    }

    void extend(size_t n_new, size_t total) {
        if (n_new > 1 || total <= covered)  // expect: MLA101 select expect: MLA102 select
            covered = 0;
        size_t b = covered / window;
        while (b * window < total) {
            for (size_t t = b * window; t < std::min(b * window + window, total); t++)
                for (size_t i = 0; i < dim; i++)
                    pooled[b * dim + i] += keys[t * dim + i];
            b++;
        }
        covered = total;
    }
};
