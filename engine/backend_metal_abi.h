/*
 * What the Metal host uses of the Objective-C runtime and of Metal, written down once: the selector
 * of every message and the C types it is sent with. objc_msgSend must be called through exactly the
 * type of the method; arm64 passes variadic arguments differently. No Apple header is included.
 * Types: "Calling Objective-C methods" and the Metal framework reference, developer.apple.com.
 */
#ifndef MLA_ENGINE_BACKEND_METAL_ABI_H
#define MLA_ENGINE_BACKEND_METAL_ABI_H

typedef struct mla_objc_object *mla_objc_id;
typedef struct mla_objc_selector *mla_objc_sel;
typedef unsigned long mla_objc_uint; /* NSUInteger */
typedef signed char mla_objc_bool;   /* BOOL; only 0 and 1 are passed */
typedef struct {
	mla_objc_uint width, height, depth;
} mla_objc_size; /* MTLSize */

extern mla_objc_id objc_getClass(const char *name);
extern mla_objc_sel sel_registerName(const char *name);
extern void objc_msgSend(void);
extern void *objc_autoreleasePoolPush(void);
extern void objc_autoreleasePoolPop(void *pool);
extern mla_objc_id MTLCreateSystemDefaultDevice(void);

enum { MLA_MTL_MATH_SAFE = 0, MLA_MTL_STORAGE_SHARED = 0, MLA_MTL_STATUS_COMPLETED = 4 };

/* Xn(function, selector, result, n argument types) */
#define MLA_METAL_MESSAGES(X0, X1, X2, X3)                                                       \
	X0(objc_new, "new", mla_objc_id)                                                         \
	X0(objc_release, "release", void)                                                        \
	X1(objc_responds, "respondsToSelector:", mla_objc_bool, mla_objc_sel)                    \
	X1(ns_string, "stringWithUTF8String:", mla_objc_id, const char *)                        \
	X0(ns_utf8, "UTF8String", const char *)                                                  \
	X0(ns_description, "localizedDescription", mla_objc_id)                                  \
	X1(options_math_mode, "setMathMode:", void, long)                                        \
	X1(options_fast_math, "setFastMathEnabled:", void, mla_objc_bool)                        \
	X0(device_name, "name", mla_objc_id)                                                     \
	X0(device_max_buffer, "maxBufferLength", mla_objc_uint)                                  \
	X3(device_library, "newLibraryWithSource:options:error:", mla_objc_id, mla_objc_id,      \
	   mla_objc_id, mla_objc_id *)                                                           \
	X0(device_queue, "newCommandQueue", mla_objc_id)                                         \
	X2(device_buffer, "newBufferWithLength:options:", mla_objc_id, mla_objc_uint,            \
	   mla_objc_uint)                                                                        \
	X2(device_pipeline, "newComputePipelineStateWithFunction:error:", mla_objc_id,           \
	   mla_objc_id, mla_objc_id *)                                                           \
	X1(library_function, "newFunctionWithName:", mla_objc_id, mla_objc_id)                   \
	X0(pipeline_max_threads, "maxTotalThreadsPerThreadgroup", mla_objc_uint)                 \
	X0(pipeline_simd_width, "threadExecutionWidth", mla_objc_uint)                           \
	X0(buffer_contents, "contents", void *)                                                  \
	X0(queue_commands, "commandBuffer", mla_objc_id)                                         \
	X0(commands_encoder, "computeCommandEncoder", mla_objc_id)                               \
	X0(commands_commit, "commit", void)                                                      \
	X0(commands_wait, "waitUntilCompleted", void)                                            \
	X0(commands_status, "status", mla_objc_uint)                                             \
	X0(commands_error, "error", mla_objc_id)                                                 \
	X1(encoder_pipeline, "setComputePipelineState:", void, mla_objc_id)                      \
	X3(encoder_buffer, "setBuffer:offset:atIndex:", void, mla_objc_id, mla_objc_uint,        \
	   mla_objc_uint)                                                                        \
	X3(encoder_bytes, "setBytes:length:atIndex:", void, const void *, mla_objc_uint,         \
	   mla_objc_uint)                                                                        \
	X2(encoder_group_memory, "setThreadgroupMemoryLength:atIndex:", void, mla_objc_uint,     \
	   mla_objc_uint)                                                                        \
	X2(encoder_dispatch, "dispatchThreadgroups:threadsPerThreadgroup:", void, mla_objc_size, \
	   mla_objc_size)                                                                        \
	X0(encoder_end, "endEncoding", void)

#define MLA_TYPE0(f, s, r) typedef r (*f##_type)(mla_objc_id, mla_objc_sel);
#define MLA_TYPE1(f, s, r, a) typedef r (*f##_type)(mla_objc_id, mla_objc_sel, a);
#define MLA_TYPE2(f, s, r, a, b) typedef r (*f##_type)(mla_objc_id, mla_objc_sel, a, b);
#define MLA_TYPE3(f, s, r, a, b, c) typedef r (*f##_type)(mla_objc_id, mla_objc_sel, a, b, c);
MLA_METAL_MESSAGES(MLA_TYPE0, MLA_TYPE1, MLA_TYPE2, MLA_TYPE3)

#define MLA_NAME0(f, s, r) f##_message,
#define MLA_NAME1(f, s, r, a) f##_message,
#define MLA_NAME2(f, s, r, a, b) f##_message,
#define MLA_NAME3(f, s, r, a, b, c) f##_message,
enum { MLA_METAL_MESSAGES(MLA_NAME0, MLA_NAME1, MLA_NAME2, MLA_NAME3) MLA_METAL_MESSAGES_N };

#define MLA_SEL0(f, s, r) s,
#define MLA_SEL1(f, s, r, a) s,
#define MLA_SEL2(f, s, r, a, b) s,
#define MLA_SEL3(f, s, r, a, b, c) s,
static const char *const mla_metal_selector[] = {
	MLA_METAL_MESSAGES(MLA_SEL0, MLA_SEL1, MLA_SEL2, MLA_SEL3)};

/* Through a pointer: gcc turns a direct call by another type into a trap. */
static inline void (*mla_metal_send(void))(void)
{
	return objc_msgSend;
}

/* SEND(device_buffer, device, bytes, 0UL); SEND0 where there are no arguments. */
#define SEND0(f, object) \
	((f##_type)mla_metal_send())(object, sel_registerName(mla_metal_selector[f##_message]))
#define SEND(f, object, ...)                                                                    \
	((f##_type)mla_metal_send())(object, sel_registerName(mla_metal_selector[f##_message]), \
	                             __VA_ARGS__)

#endif
