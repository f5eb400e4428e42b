01_dot_product.o: chapters/01_dot_product.c src/attention.h
src/attention.h:
