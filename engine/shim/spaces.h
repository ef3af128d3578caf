/*
 * Declarations only, for clang -fsyntax-only: the address spaces of Metal as real ones, so that a
 * threadgroup pointer given to a device parameter, or a write to constant memory, is an error here
 * and not first on a Mac. Needs clang; g++ has no address spaces on a CPU.
 */
#ifndef MLA_ENGINE_SHIM_SPACES_H
#define MLA_ENGINE_SHIM_SPACES_H

#define device __attribute__((address_space(1)))
#define constant const __attribute__((address_space(2)))
#define threadgroup __attribute__((address_space(3)))
#define thread
#define MSLKERNEL static
#define FVW 4u
#define TILE_M 4
#define SIMD_WIDTH 32u

typedef unsigned int uint;
typedef unsigned short ushort;
struct uint3 {
	uint x, y, z;
};
typedef float fvec __attribute__((vector_size(16)));

namespace metal
{
enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
mem_flags operator|(mem_flags a, mem_flags b);
void threadgroup_barrier(mem_flags);
float simd_shuffle_xor(float x, ushort m);
template <class To, class From> To as_type(From f);
float fma(float a, float b, float c);
fvec fma(fvec a, fvec b, fvec c);
float exact_fma(float a, float b, float c);
fvec vld(device const float *p);
void vst(device float *p, fvec v);
fvec vset(float s);
fvec vmax(fvec a, fvec b);
fvec vkeep(fvec x, float lo, fvec a);
fvec vscale2(fvec a, fvec t);
fvec vbf16(fvec a);
float rint(float x);
float floor(float x);
float sqrt(float x);
float max(float a, float b);
float min(float a, float b);
uint max(uint a, uint b);
uint min(uint a, uint b);
int max(int a, int b);
int min(int a, int b);
} // namespace metal

#endif
