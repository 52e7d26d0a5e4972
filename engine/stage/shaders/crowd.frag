#include <light>
in vec3 vPos;
in vec3 vNormal;
in vec3 vBind;
in vec4 vCoat;
flat in vec3 vTint;
flat in vec4 vVariation;
out vec4 color;

void main() {
	vec3 n = normalize(vNormal);
	vec3 toEye = normalize(Eye - vPos);
	// Fur: fine mottling that fades before it would shimmer.
	float near = clamp(1.2 - distance(Eye, vPos) / 9.0, 0.0, 1.0);
	float fur = near > 0.0 ? (0.65 * noise(vBind * vec3(210.0, 120.0, 95.0)) + 0.35 * noise(vBind * vec3(60.0, 40.0, 30.0)) - 0.5) * near : 0.0;
	// Every dog has another share of white below, and of black on the back; some
	// have patches.
	float edge = vCoat.x + 0.35 * fur + 0.24 * (vVariation.x - 0.5);
	if (vVariation.y > 0.68) edge = max(edge, 1.9 * noise(vBind * 8.5 + 20.0 * vVariation.xyz) + 0.30 * fur - 0.78);
	vec3 light = mix(vTint, vec3(0.68, 0.63, 0.55), 0.82);
	vec3 albedo = mix(vTint, light, smoothstep(0.38, 0.62, edge));
	albedo = mix(albedo, albedo * 0.36, smoothstep(0.0, 0.45, vCoat.y + 0.15 * fur) * (0.45 + 0.55 * vVariation.z));
	float black = smoothstep(0.6, 0.8, vCoat.y);
	albedo = mix(albedo * (1.0 + 0.45 * fur), vec3(0.012), black);
	vec3 c = lit(albedo, n, shadow(vPos, n), 0.7 * (1.0 - black));
	// Light that the fur's edge catches, and the wet shine of nose and eyes.
	float rim = 1.0 - max(dot(n, toEye), 0.0);
	c += albedo * SkyLight * (rim * rim * rim * 0.75 * (0.6 + 0.4 * n.y)) * (1.0 - black);
	float shine = max(dot(n, normalize(SunDir + toEye)), 0.0);
	shine *= shine; shine *= shine; shine *= shine; shine *= shine; shine *= shine;
	float gleam = max(dot(n, normalize(vec3(0.0, 0.8, 0.0) + toEye)), 0.0); // of the sky
	gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam; gleam *= gleam;
	c += black * (shine * vec3(0.7) + gleam * 0.35 * SkyLight);
	color = vec4(present(c, vPos), 1.0);
}
