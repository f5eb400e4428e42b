package Signposts;

# What leads through the finished pages, none of which pandoc can know, as it
# takes all of them together:
#
#   links      from each use of a function, type or constant to its definition
#   anchors    at headings
#   index      of the whole book
#   search     what the search knows, and what the cards beside a link say
#   head       description, address and picture of a page, for other programs
#
# Made of the pages' HTML as book.lua writes it.

use strict;
use warnings;
use utf8;
use JSON::PP;
use Pack;
use Plain;
use Symbols;

my %ENTITY = (amp => '&', lt => '<', gt => '>', quot => '"', nbsp => "\xa0");

# Takes the pages, {id => html}; what Symbols found; and book.md's title block.
sub new {
    my ($class, %given) = @_;
    my $self = bless {%given}, $class;
    while ($self->{pages}{index} =~ m{<li><a href="([\w-]+)\.html">(.*?)</a>}gs) {
        my ($id, $inside) = ($1, $2);
        my ($number) = $inside =~ m{<span class="number">(\w+)</span>};
        my ($title)  = $inside =~ m{<span class="title">(.*?)</span>}s;
        push @{$self->{order}}, $id;
        $self->{title}{$id}  = $title;
        $self->{number}{$id} = $number;
        $self->{kind}{$id}   = !defined $number ? '' : $number =~ /\d/ ? 'Chapter' : 'Appendix';
        $self->{sections}{$id} = [_sections($self->{pages}{$id})];
    }
    $self->{terms} = [_terms($self->{pages}{glossary} // '')];
    return $self;
}

# "Chapter 2", or nothing.
sub name_of {
    my ($self, $id) = @_;
    return $self->{kind}{$id} ? "$self->{kind}{$id}\xa0$self->{number}{$id}" : '';
}

# ------------------------------------------------------------------ reading

# HTML as the words that it says, without code and labels.
sub text {
    my ($html) = @_;
    for ($html) {
        s{<(pre|svg|style|nav)\b.*?</\1>}{}gs;
        s{<(p|span) class="(?:label|lines|note)">.*?</\1>}{}gs;
        s{<a [^>]*(?:footnote-(?:ref|back)|doc-backlink).*?</a>}{}gs;
        s{<math display="block"(.*?)</math>}{index($1, '<msqrt') < 0 ? '…' : '√…'}gse;
        s{<math\b.*?<annotation [^>]*>(.*?)</annotation>.*?</math>}{_formula($1)}gse;
        s{</(?:p|li|t[dh]|div|h\d|figcaption|summary)>|<br ?/?>}{ }g;
        s{<[^>]*>}{}g;
        $_ = _unescaped($_);
        s{\s+}{ }g;
        s{^ | $}{}g;
    }
    return $html;
}

# A formula in a line, from its source.
sub _formula {
    my ($tex) = @_;
    return escape(Plain::formula(_unescaped($tex) =~ s/\{,\}/,/gr) =~ s/\bsqrt\b/√/gr);
}

sub _unescaped { return $_[0] =~ s{&(?:#(\d+)|(\w+));}{$1 ? chr $1 : $ENTITY{$2} // "&$2;"}ger }
sub escape { return $_[0] =~ s{([&<>"])}{'&' . {qw(& amp < lt > gt " quot)}->{$1} . ';'}ger }

# The numbers that programs print in a part of a page, each once.
sub _printed {
    my ($html) = @_;
    my %seen;
    return join ' ', grep { !$seen{$_}++ } map {/\d+\.\d{4}\b/g} $html =~ m{<samp>(.*?)</samp>}gs;
}

# A page's sections: id, title, text and printed numbers of each, the first being the
# page's own. A hint is for who asks for it, and what is gained for who has solved it.
sub _sections {
    my ($html) = @_;
    my ($main) = $html =~ m{<main id="main">(.*)</main>}s or return;
    my (undef, @parts) = split m{<h([1-6])[^>]*?\bid="([^"]+)"[^>]*>(.*?)</h\g{-3}>}s, $main;
    my @sections;
    while (my (undef, $id, $title, $body) = splice @parts, 0, 4) {
        my $open = $body =~ s{<details class="(?:hint|done)">.*?</details>}{}gsr;
        push @sections, {id => $id, title => text($title), text => text($open),
            numbers => _printed($body)};
    }
    return @sections;
}

# The glossary's rows: the term, where it leads, and the other columns' words.
sub _terms {
    my ($html) = @_;
    my @terms;
    while ($html =~ m{<tr>\s*<td[^>]*><a href="([^"]+)">(.*?)</a>(.*?)</tr>}gs) {
        my ($address, $name, $rest) = ($1, text($2), $3);
        push @terms, {address => $address, name => $name,
            says => join '; ', grep { /\w/ } map { text($_) } split m{</td>}, $rest};
    }
    return @terms;
}

# ------------------------------------------------------------- in the pages

# A page with all that leads to and from it.
sub finished {
    my ($self, $id, $html) = @_;
    $html = $self->_link_code($id, $html);
    $html =~ s{<!--index (\w+)-->}{$1 eq 'terms' ? $self->_index_of_terms : $self->_index_of_code}ge;
    $html =~ s{(<(h[23])[^>]*\bid="([^"]+)"[^>]*>)(.*?)(</\2>)}
              {qq{$1$4<a class="anchor" href="#$3" aria-label="Link to this section"></a>$5}}gse
      if $id ne 'index';
    $html =~ s{<a rel="\w+" href="([\w-]+)\.html"><span class="label">\w+\K}{$self->name_of($1) =~ s/^(?=.)/ · /r}ge;
    $html =~ s{<!--head-->\n}{$self->_head($id)}e;
    $html =~ s{<!--change-->}{$self->_change($html)}e;
    return $html;
}

sub _link_code {
    my ($self, $id, $html) = @_;
    my $names = $self->{symbols}->names_on($id);
    my $find  = sub { $self->{symbols}->find($_[0], $id) };
    # In listings, all but comments, strings and what stands behind "." or "->";
    # the first use in a listing can be reached by the keyboard.
    my %seen;
    my $link = sub {
        my ($name, $line, $call) = @_;
        my $symbol = $find->($name);
        return $name if !Symbols::is_used($symbol, $call);
        my $address = Symbols::address($symbol, $id, $line) // return $name;
        my $reach = $seen{$name}++ ? ' tabindex="-1"' : '';
        return qq{<a class="symbol" href="$address"$reach>$name</a>};
    };
    my $in_line = sub {
        my ($code, $line) = @_;
        $code =~ s{(<span\ class="(?:co|st|ch)">.*?</span>|<[^>]*>|&\w+;(?:</span>)?\w*|\.(?:</span>)?\w+)
                  |\b($names)\b(?=(?:</span>)?(?:<span\ class="op">)?(\()?)}
                  {$1 // $link->("$2", $line, $3)}gxe if $names ne '';
        return $code;
    };
    $html =~ s{(<pre class="code" .*?</pre>)}{
        my $listing = $1;
        %seen = ();
        # A line of a header, H57, is none of the chapter's own.
        $listing =~ s/("[\w.]*#([LH])(\d+)" aria-hidden="true" tabindex="-1"><\/a>)(.*)/$1 . $in_line->($4, $2 eq 'L' ? $3 : undef)/ge;
        $listing}gse;
    # In prose, code that is nothing but a name.
    $html =~ s{(<(a|h\d|summary|pre|nav|hgroup|svg)\b.*?</\2>|<p\ class="(?:label|note)">.*?</p>)
              |<code>(\w+)</code>}{
        my ($else, $name) = ($1, $3);
        my $symbol  = defined $name && $find->($name);
        my $address = $symbol && !($symbol->{kind} eq 'data' && !$symbol->{declared})
          && Symbols::address($symbol, $id);
        $else // ($address ? qq{<a class="symbol" href="$address"><code>$name</code></a>}
          : "<code>$name</code>")}gsex;
    return $html;
}

sub _head {
    my ($self, $id) = @_;
    my $about = $self->{about};
    my $title = escape(text($self->{title}{$id} // $about->{title} // ''));
    my ($main) = $self->{pages}{$id} =~ m{<main id="main">(.*)</main>}s;
    my ($says) = $main ? map { text($_) } grep { !/^\s*$/ } $main =~ m{^<p>(.*?)</p>}ms : ();
    $says = $about->{description} if $id eq 'index' || !defined $says;
    $says = escape(_shortened($says // ''));
    my @head;
    push @head, qq{<meta name="description" content="$says">} if $says ne '';
    push @head, qq{<meta property="og:title" content="$title">},
      qq{<meta property="og:type" content="@{[$id eq 'index' ? 'book' : 'article']}">};
    push @head, qq{<meta property="og:description" content="$says">} if $says ne '';
    if (my $address = escape($about->{address} // '')) {
        my $here = $address . ($id eq 'index' ? '' : "$id.html");
        push @head, qq{<link rel="canonical" href="$here">}, qq{<meta property="og:url" content="$here">},
          qq{<meta property="og:image" content="${address}card.png">};
    }
    return join '', map {"$_\n"} @head;
}

# At most so many letters, up to the end of a word.
sub _shortened {
    my ($text) = @_;
    return $text if length $text <= 160;
    return substr($text, 0, 158) =~ s/[\s.,;:]+\S*$//r . ' …';
}

# The link under which a page can be changed.
sub _change {
    my ($self, $html) = @_;
    my $repository = $self->{about}{repository} // return '';
    my ($file) = $html =~ m{<hgroup>.*?<code>([^<]+)</code>};
    my $address = escape("$repository/edit/main/" . ($file // 'book.md'));
    return qq{ <a class="change" href="$address">Change this page</a>.};
}

# --------------------------------------------------------------- the index

# Numbers of chapters that lead to places in them, and what they are called when they
# are read aloud.
sub _places {
    my ($self, $called, %place) = @_;
    return join ', ', map { qq{<a href="$place{$_}" aria-label="$called} . lc($self->{kind}{$_})
          . qq{ $self->{number}{$_}">$self->{number}{$_}</a>} }
      grep { defined $place{$_} && $self->{kind}{$_} } @{$self->{order}};
}

sub _entries {
    my ($what, @entries) = @_;
    my (%letter, @letters);
    for (sort { lc $a->[0] cmp lc $b->[0] || $a->[0] cmp $b->[0] } @entries) {
        my $letter = uc substr $_->[0], 0, 1;
        push @letters, $letter if !$letter{$letter};
        push @{$letter{$letter}}, "<li>$_->[1]</li>\n";
    }
    return qq{<div class="index" aria-label="$what" role="group">\n} . join('', map {
        qq{<div><p class="letter" aria-hidden="true">$_</p>\n<ul>\n@{[join '', @{$letter{$_}}]}</ul></div>\n}
    } @letters) . '</div>';
}

sub _index_of_code {
    my ($self) = @_;
    return _entries('functions and types', map {
        my $symbol = $_;
        my %uses   = map { $_ => "$_.html#L$symbol->{uses}{$_}" } keys %{$symbol->{uses}};
        my $where = $self->_places('', $symbol->{page} => "$symbol->{page}.html#L$symbol->{line}");
        my $used  = $self->_places('used in ', %uses);
        my $address = Symbols::address($symbol, '');
        [$symbol->{name}, qq{<a class="symbol" href="$address"><code>$symbol->{name}</code></a> <span class="places">}
            . join('; used in ', ($where || '<a href="reference.html#L' . $symbol->{declared} . '">header</a>'),
            $used || ()) . '</span>'];
    } $self->{symbols}->all);
}

sub _index_of_terms {
    my ($self) = @_;
    return _entries('terms', map {
        my ($home) = $_->{address} =~ /^([\w-]+)/;
        my $where = $self->_places('', $home => $_->{address}) || escape(text($self->{title}{$home} // ''));
        [$_->{name}, qq{<a href="$_->{address}">} . escape($_->{name}) . qq{</a> <span class="places">$where</span>}];
    } @{$self->{terms}});
}

# ------------------------------------------------------ what scripts look up

# What can be found, each with its kind, name, other names, text, address and what stands
# above it: terms; pages and sections, with the numbers that are printed there, which a
# tutorial's reader may look for, but without addresses and the titles of other sections; and
# what the headers declare.
sub search_index {
    my ($self) = @_;
    my %above = map { $_ => join ' · ', grep { $_ ne '' } $self->name_of($_), text($self->{title}{$_}) }
      @{$self->{order}};
    my $also = $self->{about}{aliases};
    my @found = map {
        my ($page, $id) = $_->{address} =~ /^([\w-]+)\.html(?:#(.*))?/;
        ['term', $_->{name}, $also->{$id // $page} // '', $_->{says}, $_->{address}, $above{$page}]
    } @{$self->{terms}};
    for my $page (grep { $_ ne 'book-index' } @{$self->{order}}) {
        for (@{$self->{sections}{$page}}) {
            my ($id, $title, $text, $numbers) = @$_{qw(id title text numbers)};
            my $says = join ' ', grep({ $_ ne '' } $text), grep { index($text, $_) < 0 } split / /, $numbers;
            $says =~ s{\b((?:chapter|appendix) \w+), “[^”]*”| https?:\S+}{$1 // ''}gie;
            $says =~ s{ \((?:[A-Z][^()]{2,60} (?:19|20)\d\d[a-z]?(?:; )?)+\)}{}g; # they stand in the sources
            push @found, [$id eq $page ? 'page' : 'section', $title, $also->{$id} // '', $page eq 'glossary' ? '' : $says,
                $id eq $page ? ("$page.html", $self->name_of($page)) : ("$page.html#$id", $above{$page})];
        }
    }
    push @found, map {
        ['code', $_->{name}, '', $_->{says} =~ tr/\n/ /r, Symbols::address($_, ''), $self->name_of($_->{page}) || $_->{header}]
    } $self->{symbols}->all;
    return Pack::script('search-index', JSON::PP->new->canonical->utf8->encode(\@found));
}

# What a card says of each that the header declares: its declaration and comment, where it
# is defined, and the chapters that use it.
sub symbols {
    my ($self) = @_;
    my $users = sub {
        my ($symbol) = @_;
        return join ', ', map { $self->{number}{$_} }
          grep { $symbol->{uses}{$_} && $self->{kind}{$_} } @{$self->{order}};
    };
    my %card = map {
        $_->{name} => [@$_{qw(code says)}, $self->name_of($_->{page}) || $_->{header}, $users->($_)]
    } $self->{symbols}->all;
    return "globalThis.book ??= {};\nbook.symbols = " . JSON::PP->new->canonical->encode(\%card) . ";\n";
}

1;
