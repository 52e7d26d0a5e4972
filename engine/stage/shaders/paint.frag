#include <light>
in vec3 vPos;
in vec3 vNormal;
in vec4 vCoat; // linear colour: see body.Paint
out vec4 color;

void main() {
	vec3 n = normalize(vNormal);
	vec3 toEye = normalize(Eye - vPos);
	vec3 albedo = vCoat.rgb;
	vec3 c = lit(albedo, n, shadow(vPos, n), 0.3);
	float rim = 1.0 - max(dot(n, toEye), 0.0);
	c += albedo * SkyLight * (rim * rim * rim * 0.40 * (0.6 + 0.4 * n.y));
	color = vec4(present(c, vPos), 1.0);
}
