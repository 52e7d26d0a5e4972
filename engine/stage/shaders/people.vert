#include <dress>
#include <herd>

// Clothes are filled more or less, hair is short or full, and calves in shorts are
// thinner than trousers.
float thickness(vec4 variation) {
	float dressed = (1.0 - smoothstep(0.30, 0.48, Coat.x)) * smoothstep(0.06, 0.25, Position.y) * step(Coat.w, 0.5) * step(Coat.z, 0.5);
	float full = Coat.x * smoothstep(0.50, 0.66, Coat.w) * step(Coat.x, 1.2);
	float bare = shorts(variation) * smoothstep(1.24, 1.30, Coat.y) * step(Coat.z, 0.5);
	return mix(-0.004, 0.012, variation.w * variation.w) * dressed + mix(-0.006, 0.014, variation.y * variation.y) * full - 0.010 * bare;
}
