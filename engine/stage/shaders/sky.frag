#include <light>
in vec3 vDir;
out vec4 color;

void main() {
	vec3 dir = normalize(vDir);
	vec3 c = sky(dir);
	// High clouds, thin toward the horizon.
	if (dir.y > 0.02) {
		vec2 p = dir.xz / (dir.y + 0.10);
		float cover = 0.62 * texture(Grain, p * 0.052).y + 0.38 * texture(Grain, p * vec2(0.21, 0.13) + 0.37).x;
		float cloud = smoothstep(0.50, 0.82, cover) * smoothstep(0.02, 0.26, dir.y);
		c = mix(c, vec3(1.25, 1.22, 1.18), 0.75 * cloud);
	}
	color = vec4(encode(c), 1.0);
}
