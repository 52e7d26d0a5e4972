#include <light>
in vec3 vPos;
in vec2 vCoord; // −1…1 across, metres along
out vec4 color;

void main() {
	float dash = smoothstep(0.10, 0.16, abs(fract(vCoord.y * 4.0) - 0.5));
	float a = (1.0 - smoothstep(0.5, 1.0, abs(vCoord.x))) * dash;
	color = vec4(present(vec3(0.95, 0.62, 0.10), vPos), 0.85 * a);
}
