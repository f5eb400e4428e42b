07_self_attention.o: chapters/07_self_attention.c src/attention.h
src/attention.h:
