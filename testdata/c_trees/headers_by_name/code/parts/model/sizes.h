#pragma once

struct tensor;
struct sizes {
    int rank, nope, vdim;
};

tensor * keys(tensor * kv, const sizes & s);
tensor * values(tensor * kv, const sizes & s);
