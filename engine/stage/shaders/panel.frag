uniform sampler2D Picture; // premultiplied
in vec2 vCoord;
out vec4 color;

void main() {
	vec4 c = texture(Picture, vCoord);
	color = vec4(c.rgb / max(c.a, 0.001), c.a);
}
