// The driver's functions that may be called, one to an entry: name, parameters,
// and the same parameters as the arguments of a call. This is the only list of
// them: cuda.h declares what stands here and driver.c forwards it. Define
// CUDA_FUNCTION before including this file; it has no guard, to be read again.
//
// Where the driver kept an old function under the plain name, a #define leads
// to the new one, whose name ends in _v2 or _v3. cuInit is not listed: it
// alone is not forwarded.

// Driver and devices
#define cuDeviceTotalMem cuDeviceTotalMem_v2
CUDA_FUNCTION(cuDriverGetVersion, (int *version), (version))
CUDA_FUNCTION(cuGetErrorString, (CUresult result, const char **text), (result, text))
CUDA_FUNCTION(cuDeviceGetCount, (int *n), (n))
CUDA_FUNCTION(cuDeviceGet, (CUdevice *dev, int number), (dev, number))
CUDA_FUNCTION(cuDeviceGetName, (char *name, int room, CUdevice dev), (name, room, dev))
CUDA_FUNCTION(cuDeviceGetUuid, (CUuuid *id, CUdevice dev), (id, dev))
CUDA_FUNCTION(cuDeviceTotalMem, (size_t *bytes, CUdevice dev), (bytes, dev))
CUDA_FUNCTION(cuDeviceGetAttribute, (int *value, CUdevice_attribute a, CUdevice dev), (value, a, dev))
CUDA_FUNCTION(cuDeviceGetP2PAttribute,
	(int *value, CUdevice_P2PAttribute a, CUdevice from, CUdevice to), (value, a, from, to))
CUDA_FUNCTION(cuDeviceCanAccessPeer, (int *can, CUdevice dev, CUdevice peer), (can, dev, peer))

// Contexts
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuCtxCreate cuCtxCreate_v2
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
CUDA_FUNCTION(cuDevicePrimaryCtxRetain, (CUcontext *ctx, CUdevice dev), (ctx, dev))
CUDA_FUNCTION(cuDevicePrimaryCtxRelease, (CUdevice dev), (dev))
CUDA_FUNCTION(cuDevicePrimaryCtxReset, (CUdevice dev), (dev))
CUDA_FUNCTION(cuDevicePrimaryCtxSetFlags, (CUdevice dev, unsigned flags), (dev, flags))
CUDA_FUNCTION(cuDevicePrimaryCtxGetState, (CUdevice dev, unsigned *flags, int *active), (dev, flags, active))
CUDA_FUNCTION(cuCtxCreate, (CUcontext *ctx, unsigned flags, CUdevice dev), (ctx, flags, dev))
CUDA_FUNCTION(cuCtxDestroy, (CUcontext ctx), (ctx))
CUDA_FUNCTION(cuCtxPushCurrent, (CUcontext ctx), (ctx))
CUDA_FUNCTION(cuCtxPopCurrent, (CUcontext *ctx), (ctx))
CUDA_FUNCTION(cuCtxSetCurrent, (CUcontext ctx), (ctx))
CUDA_FUNCTION(cuCtxGetCurrent, (CUcontext *ctx), (ctx))
CUDA_FUNCTION(cuCtxSynchronize, (void), ())
CUDA_FUNCTION(cuCtxGetDevice, (CUdevice *dev), (dev))
CUDA_FUNCTION(cuCtxGetApiVersion, (CUcontext ctx, unsigned *version), (ctx, version))
CUDA_FUNCTION(cuCtxGetFlags, (unsigned *flags), (flags))
CUDA_FUNCTION(cuCtxGetLimit, (size_t *value, CUlimit limit), (value, limit))
CUDA_FUNCTION(cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value))
CUDA_FUNCTION(cuCtxGetCacheConfig, (CUfunc_cache *cache), (cache))
CUDA_FUNCTION(cuCtxSetCacheConfig, (CUfunc_cache cache), (cache))
CUDA_FUNCTION(cuCtxGetSharedMemConfig, (CUsharedconfig *banks), (banks))
CUDA_FUNCTION(cuCtxSetSharedMemConfig, (CUsharedconfig banks), (banks))
CUDA_FUNCTION(cuCtxGetStreamPriorityRange, (int *least, int *greatest), (least, greatest))
CUDA_FUNCTION(cuCtxResetPersistingL2Cache, (void), ())
CUDA_FUNCTION(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags), (peer, flags))
CUDA_FUNCTION(cuCtxDisablePeerAccess, (CUcontext peer), (peer))

// Code
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuLinkCreate cuLinkCreate_v2
#define cuLinkAddData cuLinkAddData_v2
#define cuLinkAddFile cuLinkAddFile_v2
CUDA_FUNCTION(cuModuleLoad, (CUmodule *mod, const char *path), (mod, path))
CUDA_FUNCTION(cuModuleLoadData, (CUmodule *mod, const void *image), (mod, image))
CUDA_FUNCTION(cuModuleLoadDataEx,
	(CUmodule *mod, const void *image, unsigned n, CUjit_option *options, void **values),
	(mod, image, n, options, values))
CUDA_FUNCTION(cuModuleLoadFatBinary, (CUmodule *mod, const void *image), (mod, image))
CUDA_FUNCTION(cuModuleUnload, (CUmodule mod), (mod))
CUDA_FUNCTION(cuModuleGetFunction, (CUfunction *f, CUmodule mod, const char *name), (f, mod, name))
CUDA_FUNCTION(cuModuleGetGlobal,
	(CUdeviceptr *p, size_t *bytes, CUmodule mod, const char *name), (p, bytes, mod, name))
CUDA_FUNCTION(cuModuleGetTexRef, (CUtexref *tex, CUmodule mod, const char *name), (tex, mod, name))
CUDA_FUNCTION(cuModuleGetSurfRef, (CUsurfref *surf, CUmodule mod, const char *name), (surf, mod, name))
CUDA_FUNCTION(cuLinkCreate,
	(unsigned n, CUjit_option *options, void **values, CUlinkState *link), (n, options, values, link))
CUDA_FUNCTION(cuLinkAddData,
	(CUlinkState link, CUjitInputType kind, void *data, size_t bytes, const char *name,
		unsigned n, CUjit_option *options, void **values),
	(link, kind, data, bytes, name, n, options, values))
CUDA_FUNCTION(cuLinkAddFile,
	(CUlinkState link, CUjitInputType kind, const char *path,
		unsigned n, CUjit_option *options, void **values),
	(link, kind, path, n, options, values))
CUDA_FUNCTION(cuLinkComplete, (CUlinkState link, void **image, size_t *bytes), (link, image, bytes))
CUDA_FUNCTION(cuLinkDestroy, (CUlinkState link), (link))

// Kernels
CUDA_FUNCTION(cuLaunchKernel,
	(CUfunction f, unsigned gridX, unsigned gridY, unsigned gridZ,
		unsigned blockX, unsigned blockY, unsigned blockZ,
		unsigned sharedBytes, CUstream s, void **params, void **extra),
	(f, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, s, params, extra))
CUDA_FUNCTION(cuFuncGetAttribute, (int *value, CUfunction_attribute a, CUfunction f), (value, a, f))
CUDA_FUNCTION(cuFuncSetAttribute, (CUfunction f, CUfunction_attribute a, int value), (f, a, value))
CUDA_FUNCTION(cuFuncSetCacheConfig, (CUfunction f, CUfunc_cache cache), (f, cache))
CUDA_FUNCTION(cuFuncSetSharedMemConfig, (CUfunction f, CUsharedconfig banks), (f, banks))
CUDA_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *blocks, CUfunction f, int threads, size_t sharedBytes), (blocks, f, threads, sharedBytes))
CUDA_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
	(int *blocks, CUfunction f, int threads, size_t sharedBytes, unsigned flags),
	(blocks, f, threads, sharedBytes, flags))

// Streams and events
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2
CUDA_FUNCTION(cuStreamCreate, (CUstream *s, unsigned flags), (s, flags))
CUDA_FUNCTION(cuStreamCreateWithPriority, (CUstream *s, unsigned flags, int priority), (s, flags, priority))
CUDA_FUNCTION(cuStreamDestroy, (CUstream s), (s))
CUDA_FUNCTION(cuStreamGetFlags, (CUstream s, unsigned *flags), (s, flags))
CUDA_FUNCTION(cuStreamGetPriority, (CUstream s, int *priority), (s, priority))
CUDA_FUNCTION(cuStreamQuery, (CUstream s), (s))
CUDA_FUNCTION(cuStreamSynchronize, (CUstream s), (s))
CUDA_FUNCTION(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned flags), (s, e, flags))
CUDA_FUNCTION(cuStreamWaitValue32,
	(CUstream s, CUdeviceptr p, cuuint32_t value, unsigned flags), (s, p, value, flags))
CUDA_FUNCTION(cuStreamWriteValue32,
	(CUstream s, CUdeviceptr p, cuuint32_t value, unsigned flags), (s, p, value, flags))
CUDA_FUNCTION(cuStreamAttachMemAsync,
	(CUstream s, CUdeviceptr p, size_t bytes, unsigned flags), (s, p, bytes, flags))
CUDA_FUNCTION(cuEventCreate, (CUevent *e, unsigned flags), (e, flags))
CUDA_FUNCTION(cuEventDestroy, (CUevent e), (e))
CUDA_FUNCTION(cuEventRecord, (CUevent e, CUstream s), (e, s))
CUDA_FUNCTION(cuEventQuery, (CUevent e), (e))
CUDA_FUNCTION(cuEventSynchronize, (CUevent e), (e))
CUDA_FUNCTION(cuEventElapsedTime, (float *ms, CUevent from, CUevent to), (ms, from, to))

// Memory
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
CUDA_FUNCTION(cuMemGetInfo, (size_t *available, size_t *total), (available, total))
CUDA_FUNCTION(cuMemAlloc, (CUdeviceptr *p, size_t bytes), (p, bytes))
CUDA_FUNCTION(cuMemAllocPitch,
	(CUdeviceptr *p, size_t *pitch, size_t width, size_t height, unsigned element),
	(p, pitch, width, height, element))
CUDA_FUNCTION(cuMemAllocManaged, (CUdeviceptr *p, size_t bytes, unsigned flags), (p, bytes, flags))
CUDA_FUNCTION(cuMemFree, (CUdeviceptr p), (p))
CUDA_FUNCTION(cuMemHostAlloc, (void **host, size_t bytes, unsigned flags), (host, bytes, flags))
CUDA_FUNCTION(cuMemFreeHost, (void *host), (host))
CUDA_FUNCTION(cuMemHostRegister, (void *host, size_t bytes, unsigned flags), (host, bytes, flags))
CUDA_FUNCTION(cuMemHostUnregister, (void *host), (host))
CUDA_FUNCTION(cuMemGetAddressRange, (CUdeviceptr *base, size_t *bytes, CUdeviceptr p), (base, bytes, p))
CUDA_FUNCTION(cuMemAdvise,
	(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice dev), (p, bytes, advice, dev))
CUDA_FUNCTION(cuMemPrefetchAsync,
	(CUdeviceptr p, size_t bytes, CUdevice dst, CUstream s), (p, bytes, dst, s))
CUDA_FUNCTION(cuPointerGetAttribute, (void *value, CUpointer_attribute a, CUdeviceptr p), (value, a, p))
CUDA_FUNCTION(cuPointerSetAttribute, (const void *value, CUpointer_attribute a, CUdeviceptr p), (value, a, p))

// Copies: H is host, D device, A array
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemcpyHtoA cuMemcpyHtoA_v2
#define cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2
#define cuMemcpyAtoH cuMemcpyAtoH_v2
#define cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2
#define cuMemcpyDtoA cuMemcpyDtoA_v2
#define cuMemcpyAtoD cuMemcpyAtoD_v2
#define cuMemcpyAtoA cuMemcpyAtoA_v2
#define cuMemcpy2D cuMemcpy2D_v2
#define cuMemcpy2DAsync cuMemcpy2DAsync_v2
#define cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2
#define cuMemcpy3D cuMemcpy3D_v2
#define cuMemcpy3DAsync cuMemcpy3DAsync_v2
CUDA_FUNCTION(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))
CUDA_FUNCTION(cuMemcpyAsync,
	(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream s), (dst, src, bytes, s))
CUDA_FUNCTION(cuMemcpyHtoD, (CUdeviceptr dst, const void *src, size_t bytes), (dst, src, bytes))
CUDA_FUNCTION(cuMemcpyHtoDAsync,
	(CUdeviceptr dst, const void *src, size_t bytes, CUstream s), (dst, src, bytes, s))
CUDA_FUNCTION(cuMemcpyDtoH, (void *dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))
CUDA_FUNCTION(cuMemcpyDtoHAsync, (void *dst, CUdeviceptr src, size_t bytes, CUstream s), (dst, src, bytes, s))
CUDA_FUNCTION(cuMemcpyDtoD, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))
CUDA_FUNCTION(cuMemcpyDtoDAsync,
	(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream s), (dst, src, bytes, s))
CUDA_FUNCTION(cuMemcpyHtoA, (CUarray dst, size_t at, const void *src, size_t bytes), (dst, at, src, bytes))
CUDA_FUNCTION(cuMemcpyHtoAAsync,
	(CUarray dst, size_t at, const void *src, size_t bytes, CUstream s), (dst, at, src, bytes, s))
CUDA_FUNCTION(cuMemcpyAtoH, (void *dst, CUarray src, size_t at, size_t bytes), (dst, src, at, bytes))
CUDA_FUNCTION(cuMemcpyAtoHAsync,
	(void *dst, CUarray src, size_t at, size_t bytes, CUstream s), (dst, src, at, bytes, s))
CUDA_FUNCTION(cuMemcpyDtoA, (CUarray dst, size_t at, CUdeviceptr src, size_t bytes), (dst, at, src, bytes))
CUDA_FUNCTION(cuMemcpyAtoD, (CUdeviceptr dst, CUarray src, size_t at, size_t bytes), (dst, src, at, bytes))
CUDA_FUNCTION(cuMemcpyAtoA,
	(CUarray dst, size_t dstAt, CUarray src, size_t srcAt, size_t bytes), (dst, dstAt, src, srcAt, bytes))
CUDA_FUNCTION(cuMemcpyPeer,
	(CUdeviceptr dst, CUcontext dstCtx, CUdeviceptr src, CUcontext srcCtx, size_t bytes),
	(dst, dstCtx, src, srcCtx, bytes))
CUDA_FUNCTION(cuMemcpyPeerAsync,
	(CUdeviceptr dst, CUcontext dstCtx, CUdeviceptr src, CUcontext srcCtx, size_t bytes, CUstream s),
	(dst, dstCtx, src, srcCtx, bytes, s))
CUDA_FUNCTION(cuMemcpy2D, (const CUDA_MEMCPY2D *copy), (copy))
CUDA_FUNCTION(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *copy, CUstream s), (copy, s))
CUDA_FUNCTION(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *copy), (copy))
CUDA_FUNCTION(cuMemcpy3D, (const CUDA_MEMCPY3D *copy), (copy))
CUDA_FUNCTION(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *copy, CUstream s), (copy, s))
CUDA_FUNCTION(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *copy), (copy))
CUDA_FUNCTION(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy, CUstream s), (copy, s))

// Fills with n values, or with height rows of width values
#define cuMemsetD8 cuMemsetD8_v2
#define cuMemsetD16 cuMemsetD16_v2
#define cuMemsetD32 cuMemsetD32_v2
#define cuMemsetD2D8 cuMemsetD2D8_v2
#define cuMemsetD2D16 cuMemsetD2D16_v2
#define cuMemsetD2D32 cuMemsetD2D32_v2
CUDA_FUNCTION(cuMemsetD8, (CUdeviceptr p, unsigned char v, size_t n), (p, v, n))
CUDA_FUNCTION(cuMemsetD8Async, (CUdeviceptr p, unsigned char v, size_t n, CUstream s), (p, v, n, s))
CUDA_FUNCTION(cuMemsetD16, (CUdeviceptr p, unsigned short v, size_t n), (p, v, n))
CUDA_FUNCTION(cuMemsetD16Async, (CUdeviceptr p, unsigned short v, size_t n, CUstream s), (p, v, n, s))
CUDA_FUNCTION(cuMemsetD32, (CUdeviceptr p, unsigned v, size_t n), (p, v, n))
CUDA_FUNCTION(cuMemsetD32Async, (CUdeviceptr p, unsigned v, size_t n, CUstream s), (p, v, n, s))
CUDA_FUNCTION(cuMemsetD2D8,
	(CUdeviceptr p, size_t pitch, unsigned char v, size_t width, size_t height), (p, pitch, v, width, height))
CUDA_FUNCTION(cuMemsetD2D8Async,
	(CUdeviceptr p, size_t pitch, unsigned char v, size_t width, size_t height, CUstream s),
	(p, pitch, v, width, height, s))
CUDA_FUNCTION(cuMemsetD2D16,
	(CUdeviceptr p, size_t pitch, unsigned short v, size_t width, size_t height), (p, pitch, v, width, height))
CUDA_FUNCTION(cuMemsetD2D16Async,
	(CUdeviceptr p, size_t pitch, unsigned short v, size_t width, size_t height, CUstream s),
	(p, pitch, v, width, height, s))
CUDA_FUNCTION(cuMemsetD2D32,
	(CUdeviceptr p, size_t pitch, unsigned v, size_t width, size_t height), (p, pitch, v, width, height))
CUDA_FUNCTION(cuMemsetD2D32Async,
	(CUdeviceptr p, size_t pitch, unsigned v, size_t width, size_t height, CUstream s),
	(p, pitch, v, width, height, s))

// Arrays, textures and surfaces
#define cuArrayCreate cuArrayCreate_v2
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuTexRefGetAddress cuTexRefGetAddress_v2
#define cuTexRefSetAddress cuTexRefSetAddress_v2
#define cuTexRefSetAddress2D cuTexRefSetAddress2D_v3
CUDA_FUNCTION(cuArrayCreate, (CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d), (array, d))
CUDA_FUNCTION(cuArrayGetDescriptor, (CUDA_ARRAY_DESCRIPTOR *d, CUarray array), (d, array))
CUDA_FUNCTION(cuArray3DCreate, (CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d), (array, d))
CUDA_FUNCTION(cuArray3DGetDescriptor, (CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array), (d, array))
CUDA_FUNCTION(cuArrayDestroy, (CUarray array), (array))
CUDA_FUNCTION(cuTexRefGetAddress, (CUdeviceptr *p, CUtexref tex), (p, tex))
CUDA_FUNCTION(cuTexRefSetAddress, (size_t *at, CUtexref tex, CUdeviceptr p, size_t bytes), (at, tex, p, bytes))
CUDA_FUNCTION(cuTexRefSetAddress2D,
	(CUtexref tex, const CUDA_ARRAY_DESCRIPTOR *d, CUdeviceptr p, size_t pitch), (tex, d, p, pitch))
CUDA_FUNCTION(cuTexRefGetAddressMode, (CUaddress_mode *mode, CUtexref tex, int axis), (mode, tex, axis))
CUDA_FUNCTION(cuTexRefSetAddressMode, (CUtexref tex, int axis, CUaddress_mode mode), (tex, axis, mode))
CUDA_FUNCTION(cuTexRefGetArray, (CUarray *array, CUtexref tex), (array, tex))
CUDA_FUNCTION(cuTexRefSetArray, (CUtexref tex, CUarray array, unsigned flags), (tex, array, flags))
CUDA_FUNCTION(cuTexRefGetBorderColor, (float *rgba, CUtexref tex), (rgba, tex))
CUDA_FUNCTION(cuTexRefSetBorderColor, (CUtexref tex, float *rgba), (tex, rgba))
CUDA_FUNCTION(cuTexRefGetFilterMode, (CUfilter_mode *mode, CUtexref tex), (mode, tex))
CUDA_FUNCTION(cuTexRefSetFilterMode, (CUtexref tex, CUfilter_mode mode), (tex, mode))
CUDA_FUNCTION(cuTexRefGetFlags, (unsigned *flags, CUtexref tex), (flags, tex))
CUDA_FUNCTION(cuTexRefSetFlags, (CUtexref tex, unsigned flags), (tex, flags))
CUDA_FUNCTION(cuTexRefGetFormat, (CUarray_format *format, int *channels, CUtexref tex), (format, channels, tex))
CUDA_FUNCTION(cuTexRefSetFormat, (CUtexref tex, CUarray_format format, int channels), (tex, format, channels))
CUDA_FUNCTION(cuTexRefGetMaxAnisotropy, (int *ratio, CUtexref tex), (ratio, tex))
CUDA_FUNCTION(cuTexRefSetMaxAnisotropy, (CUtexref tex, unsigned ratio), (tex, ratio))
CUDA_FUNCTION(cuTexRefSetMipmapFilterMode, (CUtexref tex, CUfilter_mode mode), (tex, mode))
CUDA_FUNCTION(cuTexRefSetMipmapLevelBias, (CUtexref tex, float bias), (tex, bias))
CUDA_FUNCTION(cuTexRefSetMipmapLevelClamp, (CUtexref tex, float least, float most), (tex, least, most))
CUDA_FUNCTION(cuSurfRefGetArray, (CUarray *array, CUsurfref surf), (array, surf))
CUDA_FUNCTION(cuSurfRefSetArray, (CUsurfref surf, CUarray array, unsigned flags), (surf, array, flags))

// Graphs
CUDA_FUNCTION(cuGraphCreate, (CUgraph *g, unsigned flags), (g, flags))
CUDA_FUNCTION(cuGraphClone, (CUgraph *clone, CUgraph g), (clone, g))
CUDA_FUNCTION(cuGraphDestroy, (CUgraph g), (g))
CUDA_FUNCTION(cuGraphDestroyNode, (CUgraphNode node), (node))
CUDA_FUNCTION(cuGraphExecDestroy, (CUgraphExec exec), (exec))
CUDA_FUNCTION(cuGraphGetEdges, (CUgraph g, CUgraphNode *from, CUgraphNode *to, size_t *n), (g, from, to, n))
CUDA_FUNCTION(cuGraphAddDependencies,
	(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n), (g, from, to, n))
CUDA_FUNCTION(cuGraphAddEmptyNode,
	(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n), (node, g, after, n))
CUDA_FUNCTION(cuGraphAddChildGraphNode,
	(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, CUgraph child),
	(node, g, after, n, child))
CUDA_FUNCTION(cuGraphAddHostNode,
	(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_HOST_NODE_PARAMS *params),
	(node, g, after, n, params))
CUDA_FUNCTION(cuGraphAddKernelNode,
	(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_KERNEL_NODE_PARAMS *params),
	(node, g, after, n, params))
CUDA_FUNCTION(cuGraphAddMemcpyNode,
	(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n, const CUDA_MEMCPY3D *copy, CUcontext ctx),
	(node, g, after, n, copy, ctx))
CUDA_FUNCTION(cuGraphAddMemsetNode,
	(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
		const CUDA_MEMSET_NODE_PARAMS *fill, CUcontext ctx),
	(node, g, after, n, fill, ctx))

#undef CUDA_FUNCTION
