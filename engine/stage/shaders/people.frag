#include <light>
in vec3 vPos;
in vec3 vNormal;
in vec3 vBind;
in vec4 vCoat; // skin, trousers, shoes, hair: see body.Clothes
flat in vec3 vTint;
out vec4 color;

// over returns how much of the pixel lies beyond the border at level.
float over(float channel, float level) {
	return clamp((channel - level) / max(fwidth(channel), 1e-4) + 0.5, 0.0, 1.0);
}

void main() {
	vec3 n = normalize(vNormal);
	vec3 toEye = normalize(Eye - vPos);
	// What is not the shirt follows from the shirt, so that people in other
	// shirts are other people.
	vec3 who = fract(sin(vec3(dot(vTint, vec3(127.1, 311.7, 74.7)), dot(vTint, vec3(269.5, 183.3, 246.1)),
		dot(vTint, vec3(113.5, 271.9, 124.6)))) * 43.758);
	vec3 skin = mix(vec3(0.62, 0.39, 0.27), vec3(0.24, 0.125, 0.075), who.x * who.x);
	vec3 cloth = mix(vec3(0.055, 0.075, 0.125), vec3(0.20, 0.165, 0.115), step(0.6, who.y));
	vec3 hair = mix(vec3(0.020, 0.014, 0.010), vec3(0.16, 0.085, 0.035), who.z * who.z * (1.0 - who.x));

	// Cloth: a weave that fades before it would shimmer.
	float near = clamp(1.2 - distance(Eye, vPos) / 6.0, 0.0, 1.0);
	float weave = near > 0.0 ? (noise(vBind * vec3(260.0, 320.0, 260.0)) - 0.5) * near : 0.0;
	float strands = near > 0.0 ? (noise(vBind * vec3(170.0, 35.0, 80.0)) - 0.5) * near : 0.0;
	float bare = over(vCoat.x, 0.5), worn = over(vCoat.y, 0.5), shod = over(vCoat.z, 0.5), furry = over(vCoat.w, 0.5);
	vec3 albedo = mix(vTint, cloth, worn) * (1.0 + 0.16 * weave);
	vec3 shoe = mix(vec3(0.045, 0.043, 0.045), vec3(0.62, 0.60, 0.56), over(vCoat.z, 1.5));
	albedo = mix(albedo, shoe, shod);
	vec3 lips = skin * vec3(0.80, 0.52, 0.52);
	albedo = mix(albedo, mix(skin, lips, over(vCoat.x, 1.5)), bare);
	float iris = over(vCoat.w, 1.5);
	albedo = mix(albedo, mix(hair * (1.0 + 0.7 * strands), vec3(0.02, 0.014, 0.01), iris), furry);

	vec3 c = lit(albedo, n, shadow(vPos, n));
	float rim = 1.0 - max(dot(n, toEye), 0.0);
	c += albedo * SkyLight * (rim * rim * rim * 0.40 * (0.6 + 0.4 * n.y));
	float shine = max(dot(n, normalize(SunDir + toEye)), 0.0);
	shine *= shine; shine *= shine; shine *= shine; shine *= shine;
	c += shine * (0.06 * furry * (1.0 + strands) + 0.035 * bare * (1.0 - furry) + 0.4 * iris);
	color = vec4(present(c, vPos), 1.0);
}
