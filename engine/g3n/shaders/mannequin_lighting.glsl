// The lights of a g3n scene, and its fog. Places are in camera space.
#include <lights>
uniform vec4 FogColor; // on the screen; how dense it is, per m
uniform vec2 FogRange; // m: where it begins and where nothing is seen; equal: no such fog

// reflected is what a surface sends to the eye of light that comes from a direction.
vec3 reflected(vec3 toLight, vec3 light);

vec3 ambient() {
	vec3 sum = vec3(0.0);
#if AMB_LIGHTS > 0
	for (int i = 0; i < AMB_LIGHTS; i++) sum += AmbientLightColor[i];
#endif
	return sum;
}

// lights returns the sum over all lights but the ambient ones.
vec3 lights(vec3 p) {
	vec3 sum = vec3(0.0);
#if DIR_LIGHTS > 0
	for (int i = 0; i < DIR_LIGHTS; i++) sum += reflected(normalize(DirLightPosition(i)), DirLightColor(i));
#endif
#if POINT_LIGHTS > 0
	for (int i = 0; i < POINT_LIGHTS; i++) {
		vec3 to = PointLightPosition(i) - p;
		float r = length(to);
		sum += reflected(to / r, PointLightColor(i) / (1.0 + r * (PointLightLinearDecay(i) + PointLightQuadraticDecay(i) * r)));
	}
#endif
#if SPOT_LIGHTS > 0
	for (int i = 0; i < SPOT_LIGHTS; i++) {
		vec3 to = SpotLightPosition(i) - p;
		float r = length(to);
		to /= r;
		float along = dot(-to, normalize(SpotLightDirection(i)));
		if (along <= cos(radians(clamp(SpotLightCutoffAngle(i), 0.0, 90.0)))) continue;
		float share = pow(along, SpotLightAngularDecay(i)) / (1.0 + r * (SpotLightLinearDecay(i) + SpotLightQuadraticDecay(i) * r));
		sum += reflected(to, SpotLightColor(i) * share);
	}
#endif
	return sum;
}

// fog returns how much of p the fog hides.
float fog(vec3 p) {
	float r = length(p);
	float hidden = 1.0 - exp(-FogColor.a * FogColor.a * r * r);
	if (FogRange.y > FogRange.x) hidden = max(hidden, clamp((r - FogRange.x) / (FogRange.y - FogRange.x), 0.0, 1.0));
	return hidden;
}

// fogged returns what is seen of a colour of the screen at p.
vec3 fogged(vec3 c, vec3 p) { return mix(c, FogColor.rgb, fog(p)); }
