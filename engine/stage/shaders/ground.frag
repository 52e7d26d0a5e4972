#include <light>
in vec3 vPos;
in vec3 vNormal;
in float vEdge;
in vec4 vAir;
in float vMeadow;
out vec4 color;

void main() {
	// Blades and tufts. What is too fine for the distance is even there:
	// the coarse pictures of Grain are means of the fine ones.
	vec4 blades = texture(Grain, vPos.xz * 0.83);
	vec4 tufts = texture(Grain, vPos.xz * 0.117);
	float lush = clamp(1.2 * (vMeadow - 0.5) + 0.8 * (tufts.y - 0.5) + 0.5 - 0.06 * vPos.y, 0.0, 1.0);
	float grain = blades.x - 0.5, clumps = tufts.x - 0.5;

	vec3 grass = mix(vec3(0.250, 0.225, 0.098), vec3(0.105, 0.158, 0.050), lush);
	grass *= 1.0 + 1.0 * grain + 0.5 * clumps;
	vec3 earth = vec3(0.235, 0.160, 0.095) * (1.0 + 0.9 * grain + 0.6 * clumps);
	vec3 rock = vec3(0.27, 0.255, 0.24) * (1.0 + 0.5 * grain + 1.1 * clumps);
	// Steep ground is bare, the steepest is rock; the borders are frayed.
	float level = vNormal.y + 0.05 * clumps + 0.03 * grain + 0.03 * (lush - 0.5);
	vec3 albedo = mix(rock, mix(earth, grass, smoothstep(0.885, 0.935, level)), smoothstep(0.70, 0.78, level));
	// Steps have edges of light stone. Little light falls to the foot of a riser.
	vec3 stone = vec3(0.40, 0.38, 0.34) * (1.0 + 0.4 * grain + 0.5 * clumps);
	albedo = mix(albedo, stone, smoothstep(0.25, 0.45, vEdge + 0.1 * grain));
	albedo *= 1.0 - 0.75 * smoothstep(0.1, 0.8, -vEdge);

	vec3 n = normalize(vNormal - vec3(blades.z - 0.5, 0.0, blades.w - 0.5) * 0.7 - vec3(tufts.z - 0.5, 0.0, tufts.w - 0.5) * 0.35);
	color = vec4(present(lit(albedo, n, shadow(vPos, vNormal), 0.3), vAir), 1.0);
}
