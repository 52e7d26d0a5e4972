// Package compute runs compute shaders in OpenGL 4.3: buffers, programs and launches, for mannequin/netruntime/webgpu.
package compute
