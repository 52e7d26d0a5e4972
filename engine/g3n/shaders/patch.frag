precision highp float;
#include <mannequin_lighting>
in vec3 vPos;
in vec3 vSpot;
out vec4 FragColor;

vec3 reflected(vec3 toLight, vec3 light) { return light; }

void main() {
	float a = max(1.0 - dot(vSpot.xy, vSpot.xy), 0.0);
	FragColor = vec4(0.0, 0.0, 0.0, vSpot.z * a * a * (1.0 - fog(vPos)));
}
