#include <light>
in vec3 vPos;
in vec3 vNormal;
in float vPatch; // 0 dry, 1 lush
out vec4 color;

// lines returns the coverage of lines at whole numbers of p, w wide, which fade
// out where they would be closer than pixels.
float lines(vec2 p, float w) {
	vec2 f = fwidth(p);
	vec2 d = abs(fract(p - 0.5) - 0.5);
	vec2 a = clamp((0.5 * w + 0.6 * f - d) / (1.2 * f), 0.0, 1.0) * clamp(w / f, 0.0, 1.0);
	a *= clamp(1.6 - 3.0 * f, 0.0, 1.0);
	return max(a.x, a.y);
}

void main() {
	vec3 n = normalize(vNormal);
	vec3 grass = mix(vec3(0.250, 0.285, 0.085), vec3(0.120, 0.220, 0.048), vPatch);
	vec3 earth = vec3(0.30, 0.235, 0.150);
	vec3 albedo = mix(earth, grass, smoothstep(0.80, 0.96, n.y + 0.06 * (vPatch - 0.5)));
	albedo *= mix(1.0, 0.70, lines(vPos.xz, 0.014));
	albedo *= mix(1.0, 0.55, lines(vPos.xz / 5.0, 0.0055));
	color = vec4(present(lit(albedo, n, shadow(vPos, n)), vPos), 1.0);
}
