package Plain;

# A chapter's prose as a terminal shows it: what pandoc makes of it is on the page.

use strict;
use warnings;
use utf8;
use Text::Wrap ();

# What stands in a pair of braces, others in it.
my $GROUP = qr/(\{(?:[^{}]++|(?-1))*\})/;

# Letters end where they end; other signs take the blank behind them with them.
my %SIGN = (
    times => ' × ', cdot => ' · ', odot => ' ⊙ ', oplus => ' ⊕ ', gg => ' >> ', approx => ' ≈ ', pm => '±', dots => '…', top => 'T',
    Rightarrow => ' ⇒ ', quad => '  ', qquad => '  ', left => '', right => '', Big => '', bmod => ' mod ',
    ',' => ' ', '!' => '', ';' => ' ', ':' => ' ', '{' => '{', '}' => '}', '%' => '%');
my %LETTER = (infty => '∞', alpha => 'α', beta => 'β', gamma => 'γ', epsilon => 'ε', lambda => 'λ', mu => 'μ', sigma => 'σ', omega => 'ω', varphi => 'φ', pi => 'π');
my $NAME = qr/(?:sum|max|log|ln|cos|sin|tanh)/;

# A formula: (Q K^T) / sqrt(d_k). A shape that stands below a letter comes behind it,
# as in Q[n × d_k].
sub formula {
    my ($tex) = @_;
    my $inner = sub { formula(substr $_[0], 1, -1) };
    my $whole = sub { my ($of, $one) = ($inner->($_[0]), $_[1]); $of =~ /^$one$/ ? $of : "($of)" };
    my $part  = sub { $whole->($_[0], qr/\w+(?:\([^()]*\))?/) };
    $tex =~ s/\s+/ /g;
    $tex =~ s/\\(?:begin|end)\{aligned\} ?|&//g;
    $tex =~ s/ ?\\\\ ?/\n/g;
    $tex =~ s/\\frac ?(\w)(\w)/$1\/$2/g;
    $tex =~ s/\\sum_$GROUP(?:\^$GROUP)?/'sum over ' . $inner->($1) . ($2 ? ' to ' . $inner->($2) : '') . ' of '/ge;
    $tex =~ s/ ?\\($NAME)(?=[(_])| ?\\($NAME) ?/$1 ? " $1" : " $2 "/ge;
    $tex =~ s/\\([a-zA-Z]+)/$LETTER{$1} \/\/ "\\$1"/ge;
    $tex =~ s/\\([a-zA-Z]+|[,!;:{}%]) ?/$SIGN{$1} \/\/ "\\$1"/ge;
    $tex =~ s/\\underbrace$GROUP ?_$GROUP/$inner->($1) . ' (' . $inner->($2) . ')'/ge;
    $tex =~ s/\\underset$GROUP ?$GROUP/$inner->($2) . '[' . $inner->($1) . ']'/ge;
    $tex =~ s/\\frac$GROUP ?$GROUP/$part->($1) . ' \/ ' . $part->($2)/ge;
    $tex =~ s/\\sqrt$GROUP/'sqrt(' . $inner->($1) . ')'/ge;
    $tex =~ s/\\(?:operatorname|text)$GROUP/$inner->($1)/ge;
    $tex =~ s/\^$GROUP/'^' . $whole->($1, qr{[^\W_]+})/ge;
    $tex =~ s/_$GROUP/'_' . $whole->($1, qr{[\w,]+})/ge;
    $tex =~ s/(?<=[(\n]) +| +(?=[)\n])//g;
    $tex =~ s/ {2,}/ /g;
    return $tex =~ s/^ | $//gr;
}

# What a reference leads to: a chapter, a section, or else a figure.
my %titles;
sub title_of {
    my ($id) = @_;
    if (!%titles) {
        for my $path ('book.md', sort glob 'chapters/*_*.c') {
            open my $file, '<:encoding(UTF-8)', $path or next;
            my ($number) = $path =~ m{/0?(\w+?)_};
            while (my $line = <$file>) {
                my ($depth, $title, $id) = $line =~ /^(#+) (.*?) *\{#([\w-]+)\}/ or next;
                $titles{$id} //= ($depth eq '#' && $number ? "chapter $number, " : '') . qq{"$title"};
            }
        }
    }
    return $titles{$id} // 'the figure';
}

sub plain {
    my $text = join "\n", @_;
    $text =~ s{^/\*\s*$|^\*/\s*$|^:::.*$}{}mg;
    $text =~ s/\$\$\s*(.*?)\s*\$\$|\$((?=\S)[^\$]*?\S)\$(?!\d)/formula($1 \/\/ $2)/gse;
    $text =~ s/!\[([^\]]*)\]\([^)]*\)(?:\{[^}]*\})?/(Figure: $1)/g;
    $text =~ s/\[\]\(#([\w-]+)\)/title_of($1)/ge;
    $text =~ s/\[([^\]]*)\]\(#[^)]*\)/$1/g;
    $text =~ s/ ?\[\@[^\]]*\]//g;
    $text =~ s/\[([^\]]*)\]\{\.[^}]*\}/$1/g;
    $text =~ s/^#+ (.*?)(?: *\{#.*\})?$/$1/mg;
    $text =~ s/\*\*//g;
    $text =~ s/^```.*$//mg;
    $text =~ s/\n{3,}/\n\n/g;
    $text =~ s/^\n+|\n+$//g;
    return split /\n/, $text;
}

# The same with new line ends: what stands in for a reference may be long.
sub filled {
    local $Text::Wrap::columns = 80;
    local $Text::Wrap::huge    = 'overflow';
    return split /\n/, join "\n\n", map { Text::Wrap::wrap('', '', $_ =~ tr/\n/ /r) } split /\n\n/, join "\n", plain(@_);
}

1;
