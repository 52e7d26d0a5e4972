#include <light>
in vec3 vPos;
in vec3 vNormal;
in vec3 vColour;
out vec4 color;

void main() {
	// Stone has grain on whichever side it is seen from.
	vec3 side = abs(vNormal);
	vec2 at = side.y > 0.5 ? vPos.xz : side.x > side.z ? vPos.zy : vPos.xy;
	float grain = texture(Grain, at * 0.83).x - 0.5, stains = texture(Grain, at * 0.117).x - 0.5;
	vec3 albedo = vColour * (1.0 + 0.5 * grain + 0.6 * stains);
	// Little light falls to where a wall meets the ground.
	albedo *= mix(1.0, 0.62 + 0.38 * smoothstep(0.0, 0.35, vPos.y), 1.0 - side.y);
	color = vec4(present(lit(albedo, vNormal, shadow(vPos, vNormal), 0.1), vPos), 1.0);
}
