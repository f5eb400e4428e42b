11_causal_attention.o: chapters/11_causal_attention.c src/attention.h
src/attention.h:
