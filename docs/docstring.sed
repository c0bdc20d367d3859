# For Doxygen: the lines of a docstring that name what they say become paragraphs of their own.
s,^( *)/// (Effect|Shapes|Requires|Cost|Adjoint): +,\1/// @par \2\
\1/// ,
