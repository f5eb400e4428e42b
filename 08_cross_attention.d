08_cross_attention.o: chapters/08_cross_attention.c src/attention.h
src/attention.h:
