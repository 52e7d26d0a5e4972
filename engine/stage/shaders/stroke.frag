in vec3 vColour;
in vec2 vAcross;
uniform float Cover;
out vec4 color;

void main() {
	float a = clamp(vAcross.y + 0.5 - abs(vAcross.x), 0.0, 1.0);
	color = vec4(sqrt(vColour), Cover * a); // the screen's curve
}
