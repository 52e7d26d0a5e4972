// Vertices of a crowd. COVER is the body's cover: 0 fur, 1 clothes, 2 paint.
#include <mannequin_bones>
#include <mannequin_dress>
layout(location = 0) in vec3 Position;
layout(location = 1) in vec3 Normal;
layout(location = 2) in vec4 Joint;
layout(location = 3) in vec4 Weight;
layout(location = 4) in vec4 Coat;
layout(location = 5) in vec2 Coord;

// thickness returns by how much the body is thicker than its mesh, m.
float thickness(vec4 variation) {
#if COVER == 0
	// Some have longer hair than others.
	return mix(-0.002, 0.010, variation.w) * Coat.z;
#elif COVER == 1
	// Clothes are filled more or less, hair is short or full, and calves in shorts are
	// thinner than trousers.
	float dressed = (1.0 - smoothstep(0.30, 0.48, Coat.x)) * smoothstep(0.06, 0.25, Position.y) * step(Coat.w, 0.5) * step(Coat.z, 0.5);
	float full = Coat.x * smoothstep(0.50, 0.66, Coat.w) * step(Coat.x, 1.2);
	float bare = shorts(variation) * smoothstep(1.24, 1.30, Coat.y) * step(Coat.z, 0.5);
	return mix(-0.004, 0.012, variation.w * variation.w) * dressed + mix(-0.006, 0.014, variation.y * variation.y) * full - 0.010 * bare;
#else
	return 0.0;
#endif
}
