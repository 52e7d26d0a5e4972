#include <light>
in vec3 vPos;
in vec3 vSpot;
out vec4 color;

void main() {
	float a = max(1.0 - dot(vSpot.xy, vSpot.xy), 0.0);
	color = vec4(0.0, 0.0, 0.0, vSpot.z * a * a * (1.0 - haze(distance(vPos, Eye))));
}
