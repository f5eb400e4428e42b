B_normals.o: chapters/B_normals.c src/attention.h
src/attention.h:
