06_scaling.o: chapters/06_scaling.c src/attention.h
src/attention.h:
