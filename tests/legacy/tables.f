C@ f2c
      SUBROUTINE TABLIN(N,NT,X,Y,TAB,X0,RDX)
C     LINEAR INTERPOLATION IN A TABLE OF EQUAL STEPS
      INTEGER N,NT,I,K
      DOUBLE PRECISION X(*),Y(*),TAB(*),X0,RDX,R
C@ begin n=1000000 nt=1024 | extent = ['tab[nt]']
      DO 10 I = 1,N
         R = (X(I) - X0)*RDX
         K = INT(R)
         K = MAX0(1,MIN0(K,NT-1))
         R = R - K
         Y(I) = TAB(K) + R*(TAB(K+1) - TAB(K))
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE TABBIL(N,NX,NY,P,T,TAB,Y)
C     BILINEAR, IN A TABLE OF TWO DIMENSIONS
      INTEGER N,NX,NY,I,KP,KT
      DOUBLE PRECISION P(*),T(*),TAB(NX,NY),Y(*),A,B
C@ begin n=1000000 nx=64 ny=64
      DO 10 I = 1,N
         KP = MIN0(MAX0(INT(P(I)),1),NX-1)
         KT = MIN0(MAX0(INT(T(I)),1),NY-1)
         A = P(I) - KP
         B = T(I) - KT
         Y(I) = (1.0D0-A)*(1.0D0-B)*TAB(KP,KT)
     1        + A*(1.0D0-B)*TAB(KP+1,KT)
     2        + (1.0D0-A)*B*TAB(KP,KT+1) + A*B*TAB(KP+1,KT+1)
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE GATHER(N,IDX,A,B)
      INTEGER N,IDX(*),I
      DOUBLE PRECISION A(*),B(*)
C@ begin n=1000000 | extent = ['a[n]']
      DO 10 I = 1,N
         B(I) = A(IDX(I))
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE SPMVCR(N,NNZ,IA,JA,A,X,Y)
C     A SPARSE MATRIX BY ROWS TIMES A VECTOR
      INTEGER N,NNZ,IA(*),JA(*),I,K
      DOUBLE PRECISION A(*),X(*),Y(*),T
C@ begin n=100000 nnz=900000
      DO 20 I = 1,N
         T = 0.0D0
         DO 10 K = IA(I),IA(I+1) - 1
            T = T + A(K)*X(JA(K))
   10    CONTINUE
         Y(I) = T
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE SPMVEL(N,NZ,LD,JC,A,X,Y)
C     ELLPACK: A FIXED NUMBER OF ENTRIES A ROW
      INTEGER N,NZ,LD,JC(LD,*),I,J
      DOUBLE PRECISION A(LD,*),X(*),Y(*)
C@ begin n=100000 nz=9 ld=100000 | extent = ['x[n]']
      DO 20 J = 1,NZ
         DO 10 I = 1,N
            Y(I) = Y(I) + A(I,J)*X(JC(I,J))
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE HISTGR(N,M,IB,H)
C     A HISTOGRAM: ADDING AT AN INDEX
      INTEGER N,M,IB(*),H(*),I
C@ begin n=1000000 m=64 | disjoint = True
      DO 10 I = 1,N
         H(IB(I)) = H(IB(I)) + 1
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE POLYEV(N,M,X,C,Y)
C     HORNER'S RULE AT MANY POINTS
      INTEGER N,M,I,J
      DOUBLE PRECISION X(*),C(*),Y(*),P
C@ begin n=1000000 m=12
      DO 20 I = 1,N
         P = C(M)
         DO 10 J = M - 1,1,-1
            P = P*X(I) + C(J)
   10    CONTINUE
         Y(I) = P
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE MANDEL(N,M,CR,CI,K)
C     A FIXED NUMBER OF STEPS OF Z*Z + C, COMPLEX
      INTEGER N,M,K(*),I,J
      DOUBLE PRECISION CR(*),CI(*)
      COMPLEX*16 Z,C
C@ begin n=100000 m=50 | disjoint = True
      DO 20 I = 1,N
         C = DCMPLX(CR(I),CI(I))
         Z = (0.0D0,0.0D0)
         K(I) = 0
         DO 10 J = 1,M
            IF (DBLE(Z)**2 + DIMAG(Z)**2.LE.4.0D0) THEN
               Z = Z*Z + C
               K(I) = K(I) + 1
            END IF
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE PACKLT(N,A,AP)
C     A LOWER TRIANGLE PACKED: ONE COUNTER OVER BOTH LOOPS
      INTEGER N,I,J,K
      DOUBLE PRECISION A(N,N),AP(*)
C@ begin n=2048
      K = 0
      DO 20 J = 1,N
         DO 10 I = J,N
            K = K + 1
            AP(K) = A(I,J)
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE SPLEVL(N,M,X,T,C,Y)
C     SPLINES OF DEGREE TWO BETWEEN EQUAL KNOTS, NEAREST INTEGERS
      INTEGER N,M,I,K
      DOUBLE PRECISION X(*),T(*),C(*),Y(*),S
C@ begin n=1000000 m=100 | extent = ['c__[m]', 't[m]']
      DO 10 I = 1,N
         K = MIN0(MAX0(IDNINT(X(I)),2),M-1)
         S = X(I) - T(K)
         Y(I) = C(K) + 0.5D0*S*(C(K+1)-C(K-1))
     1        + 0.5D0*S*S*(C(K+1) - 2.0D0*C(K) + C(K-1))
   10 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE PAIRFO(N,X,F,RC2)
C     FORCES OF PAIRS WITHIN A RADIUS, EACH PAIR TWICE
      INTEGER N,I,J
      DOUBLE PRECISION X(3,*),F(3,*),RC2,D1,D2,D3,R2,G
C@ begin n=4096
      DO 20 I = 1,N
         DO 10 J = 1,N
            IF (J.EQ.I) GO TO 10
            D1 = X(1,I) - X(1,J)
            D2 = X(2,I) - X(2,J)
            D3 = X(3,I) - X(3,J)
            R2 = D1*D1 + D2*D2 + D3*D3
            IF (R2.GT.RC2) GO TO 10
            G = 1.0D0/(1.0D0 + R2)
            F(1,I) = F(1,I) + G*D1
            F(2,I) = F(2,I) + G*D2
            F(3,I) = F(3,I) + G*D3
   10    CONTINUE
   20 CONTINUE
C@ end
      RETURN
      END
      SUBROUTINE CONV1D(N,M,X,H,Y)
C     A CONVOLUTION, THE REVERSED FILTER BY A RUNNING INDEX
      INTEGER N,M,I,J,K
      DOUBLE PRECISION X(*),H(*),Y(*),S
C@ begin n=100000 m=64
      DO 20 I = 1,N
         S = 0.0D0
         K = I + M - 1
         DO 10 J = 1,M
            S = S + H(J)*X(K)
            K = K - 1
   10    CONTINUE
         Y(I) = S
   20 CONTINUE
C@ end
      RETURN
      END
