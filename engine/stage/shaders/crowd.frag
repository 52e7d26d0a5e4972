#include <light>
in vec3 vPos;
in vec3 vNormal;
in vec3 vBind;
in vec4 vCoat;
flat in vec3 vTint;
out vec4 color;

void main() {
	vec3 n = normalize(vNormal);
	vec3 toEye = normalize(Eye - vPos);
	// Fur: fine mottling that fades before it would shimmer.
	float near = clamp(1.2 - distance(Eye, vPos) / 9.0, 0.0, 1.0);
	float fur = near > 0.0 ? (noise(vBind * vec3(110.0, 60.0, 60.0)) - 0.5) * near : 0.0;
	float edge = vCoat.x + 0.35 * fur;
	vec3 light = mix(vTint, vec3(0.80, 0.72, 0.60), 0.82);
	vec3 albedo = mix(vTint, light, smoothstep(0.30, 0.70, edge));
	albedo = mix(albedo, albedo * 0.42, smoothstep(0.0, 0.45, vCoat.y + 0.15 * fur) * 0.75);
	float black = smoothstep(0.6, 0.8, vCoat.y);
	albedo = mix(albedo * (1.0 + 0.30 * fur), vec3(0.018), black);
	vec3 c = lit(albedo, n, shadow(vPos, n));
	// Light that the fur's edge catches, and the wet shine of nose and eyes.
	float rim = 1.0 - max(dot(n, toEye), 0.0);
	c += albedo * SkyLight * (rim * rim * rim * 0.55 * (0.6 + 0.4 * n.y));
	float shine = max(dot(n, normalize(SunDir + toEye)), 0.0);
	shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;
	c += black * shine * vec3(0.5);
	color = vec4(present(c, vPos), 1.0);
}
